"""`clew doctor`: what is configured, what is missing, how to mend it."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

from ...state.settings import load_settings
from ..diagnosis import diagnose
from .exit_codes import ERROR, FINISHED


def run(arguments: Namespace) -> int:
    """Print a line for each thing that a run needs, with its remedy where one is needed; 1 if anything is missing.

    What only some runs need is `limited` where it is missing, and no error.
    """
    findings = asyncio.run(diagnose(load_settings()))
    for finding in findings:
        if arguments.json:
            print(json.dumps(finding._asdict()))
            continue
        mark = "missing" if not finding.ok else "limited" if finding.remedy else "ok"
        print(f"{mark:<7}  {finding.subject:<9} {finding.state}")
        if finding.remedy:
            print(f"         {'':<9} {finding.remedy}")
    return FINISHED if all(finding.ok for finding in findings) else ERROR
