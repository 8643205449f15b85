"""browser-use's state of a page, timed. Run in its own environment: SCRIPT BROWSER ROUNDS URL…

Prints a JSON object: for each URL the milliseconds of each round, the elements with an index, and the characters that
a model gets. Its waits for pages to load are set to nothing, as the pages have loaded already.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from time import perf_counter
from typing import Any

os.environ.update(ANONYMIZED_TELEMETRY="false", BROWSER_USE_LOGGING_LEVEL="error", BROWSER_USE_SETUP_LOGGING="false")

from browser_use.browser import BrowserProfile, BrowserSession


async def measure(browser: str, rounds: int, urls: list[str]) -> list[dict[str, Any]]:
    profile = BrowserProfile(
        executable_path=browser,
        headless=True,
        chromium_sandbox=os.geteuid() != 0,
        enable_default_extensions=False,
        viewport={"width": 1280, "height": 900},
        minimum_wait_page_load_time=0,
        wait_for_network_idle_page_load_time=0,
    )
    session = BrowserSession(browser_profile=profile)
    await session.start()
    found = []
    for url in urls:
        await session.navigate_to(url)
        await asyncio.sleep(1)
        times = []
        for number in range(rounds + 1):
            start = perf_counter()
            state = await session.get_browser_state_summary(include_screenshot=False)
            text = state.dom_state.llm_representation()
            if number:
                times.append(1000 * (perf_counter() - start))
        found.append({"times": times, "indexed": len(state.dom_state.selector_map), "characters": len(text)})
    await session.kill()
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    browser, rounds, *urls = sys.argv[1:]
    print(json.dumps(asyncio.run(measure(browser, int(rounds), urls))))
