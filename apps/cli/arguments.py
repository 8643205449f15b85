"""What the commands take. The name of a command is the name of its file here."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, _SubParsersAction
from pathlib import Path
from typing import TYPE_CHECKING

from .command_parser import CommandParser
from .limits import add_limits, positive

if TYPE_CHECKING:
    from datetime import timedelta

EPILOG = """exit codes: 0 finished, 1 error, 2 usage, 3 waiting for a person, 4 limit, 5 stuck, 6 rejected, 130 Ctrl-C.
Settings come from flags, then CLEW_* variables, then clew.toml in the current folder."""

DEFAULT_FILE = ""
"""A flag for a file that is given without its name."""


def build_parser() -> ArgumentParser:
    """The parser of the whole command line."""
    about = "Run LLM agents whose every step is a checkpoint."
    parser: ArgumentParser = CommandParser(prog="clew", description=about, epilog=EPILOG)
    parser.set_defaults(debug=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_run(commands)
    _add_plan(commands)
    _add_resume(commands)
    _add_threads(commands)
    _add_moving(commands)
    _add_prune(commands)
    _add_graph(commands)
    _add_serve(commands)
    _add_mcp(commands)
    for name, help in (
        ("agents", "list the built-in agents"),
        ("tools", "list the tools"),
        ("doctor", "say what is configured, what is missing, and how to mend it"),
    ):
        _add_json(_add(commands, name, help))
    demo = _add(commands, "demo", "watch the real graph do a real task with a scripted model")
    demo.add_argument("--workspace", type=_folder, metavar="DIR", help="folder of the demo's files")
    return parser


Commands = _SubParsersAction  # argparse has no public name for it


def _add(commands: Commands[ArgumentParser], name: str, help: str) -> ArgumentParser:
    parser = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
    parser.add_argument("--debug", action="store_true", help="show where an error was raised")
    return parser


def _add_run(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "run", "give an agent a task, on a thread of its own or a given one")
    _add_task(parser)
    parser.add_argument("--agent", metavar="NAME", help="which agent, or hub (default: manus; see `clew agents`)")


def _add_plan(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "plan", "plan a task and have agents carry out the steps")
    _add_task(parser)
    parser.add_argument("--agents", type=names, metavar="A,B", help="who does the steps, the primary agent first")
    parser.add_argument("--parallel", type=positive, metavar="N", help="steps that may run at once (default: 4)")
    parser.add_argument("--approve", action="store_true", default=None, help="ask about the plan before it is begun")
    plans = _add(commands, "plans", "list the plans of the library, the one changed last first")
    _add_json(plans)
    _add_db(plans)


def _add_task(parser: ArgumentParser) -> None:
    parser.add_argument("task", type=_words, metavar="TASK", help="what is to be done, in plain words")
    parser.add_argument("--model", metavar="NAME", help="such as openai:gpt-5, script:FILE or replay:FILE")
    parser.add_argument("--thread", metavar="ID", help="id of the thread; an ended one gets the task as its next")
    parser.add_argument("--image", type=Path, metavar="FILE", action="append", default=[], help="show it to the model")
    parser.add_argument("--workspace", type=_folder, metavar="DIR", help="folder of the run's files")
    _add_driving(parser)


def _add_resume(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "resume", "go on with a thread: answer it, or take it up where it stopped")
    parser.add_argument("thread", metavar="THREAD")
    parser.add_argument(
        "--answer",
        metavar="[ID=]TEXT",
        action="append",
        default=[],
        help="answer the question, or the one with ID",
    )
    parser.add_argument("--approve", action="store_true", help="approve the calls, or the plan, that it asks about")
    parser.add_argument(
        "--approve-kind", action="store_true", help="approve the calls, and for the rest of the run all of these kinds"
    )
    parser.add_argument("--reject", metavar="[ID=]REASON", action="append", default=[], help="reject all, or one by id")
    parser.add_argument("--edit", metavar="[ID=]JSON", action="append", default=[], help="approve with these arguments")
    parser.add_argument("--model", metavar="NAME", help="another model than the thread's")
    parser.add_argument("--workspace", type=_folder, metavar="DIR", help="another folder than the thread's")
    _add_driving(parser)


def _add_driving(parser: ArgumentParser) -> None:
    add_limits(parser)
    parser.add_argument(
        "--headless",
        action="store_true",
        default=None,
        help="nobody answers: a limit ends the run, no call is approved",
    )
    parser.add_argument(
        "--confirm",
        choices=("never", "risky", "always"),
        help="which tool calls are asked about first (default: risky ones where no sandbox contains them)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON event a line, the last one `end`")
    parser.add_argument("--headed", action="store_true", help="show the window of the browser, if it is used")
    parser.add_argument("--trace", action="store_true", help="record what the browser does, for playwright show-trace")
    parser.add_argument("--record", type=Path, metavar="FILE", help="record the model's replies for replay:FILE")
    _add_db(parser)


def _add_db(parser: ArgumentParser) -> None:
    parser.add_argument("--db", metavar="PATH|URL", help="database of the checkpoints")


def _add_threads(commands: Commands[ArgumentParser]) -> None:
    threads = _add(commands, "threads", "list the threads, the one used last first")
    show = _add(commands, "show", "show where a thread stands, what it asks and what was said")
    history = _add(commands, "history", "list the steps of a thread with their checkpoints, the newest first")
    fork = _add(commands, "fork", "go back to a checkpoint of a thread, on the thread itself or on a new one")
    delete = _add(commands, "delete", "delete a thread with all its checkpoints")
    pause = _add(commands, "pause", "have a running thread wait at its next gate, from another terminal")
    stop = _add(commands, "stop", "end the task of a thread; a call of a tool that runs is cancelled")
    say = _add(commands, "say", "tell the agent of a thread something while it works")
    for parser in (show, history, fork, delete, pause, stop, say):
        parser.add_argument("thread", metavar="THREAD")
    show.add_argument(
        "--html",
        nargs="?",
        const=DEFAULT_FILE,
        metavar="FILE",
        help="write its trail, with the pictures of its steps, as one page (default: THREAD.html)",
    )
    fork.add_argument("--at", metavar="CHECKPOINT", required=True, help="id, or its beginning, as `clew history` shows")
    fork.add_argument("--to", metavar="NEW", help="begin a new thread there; without it the thread itself is set back")
    history.add_argument("--limit", type=positive, metavar="N", help="only the newest N")
    say.add_argument("text", type=_words, metavar="TEXT", help="what it is to read before its next think")
    for parser in (threads, show, history, fork, delete, pause, stop, say):
        _add_db(parser)
    for parser in (threads, show, history, fork):
        _add_json(parser)


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _add_moving(commands: Commands[ArgumentParser]) -> None:
    export = _add(commands, "export", "write a thread to one file, its payloads included")
    export.add_argument("thread", metavar="THREAD")
    export.add_argument("file", metavar="FILE", type=Path, nargs="?", help="new file (default: THREAD.clew)")
    export.add_argument("--trajectory", type=Path, metavar="FILE", help="write the actions and observations instead")
    importing = _add(commands, "import", "read a thread from a file that `clew export` wrote")
    importing.add_argument("file", metavar="FILE", type=Path)
    importing.add_argument("--thread", metavar="NAME", help="id of the thread here (default: the one that it had)")
    replay = _add(commands, "replay", "do a trajectory's actions again on a new thread, and go on at its end")
    replay.add_argument("file", metavar="FILE", type=Path, help="file that `clew export --trajectory` wrote")
    replay.add_argument("--thread", metavar="ID", help="id of the new thread")
    replay.add_argument("--model", metavar="NAME", help="model that goes on at the end (default: the trajectory's)")
    replay.add_argument("--workspace", type=_folder, metavar="DIR", help="folder of the run's files")
    _add_driving(replay)
    weighing = _add(commands, "du", "list the bytes of each thread, the largest first, and their total")
    for parser in (export, importing, weighing):
        _add_json(parser)
        _add_db(parser)


def _add_prune(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "prune", "delete older checkpoints; those that stay keep their whole state")
    parser.add_argument("threads", metavar="THREAD", nargs="*", help="only these (default: all that nobody runs)")
    stays = parser.add_mutually_exclusive_group()
    stays.add_argument("--keep-latest", action="store_true", help="keep the newest checkpoint of each (the default)")
    stays.add_argument("--keep", type=positive, metavar="N", help="keep the newest N of each")
    stays.add_argument("--keep-since", type=age, metavar="AGE", help="keep what was made in that time, and the newest")
    stays.add_argument("--delete", action="store_true", help="keep nothing: the threads go with their records")
    parser.add_argument("--older-than", type=age, metavar="AGE", help="only threads unused so long: 30d, 12h, 45m, 2w")
    parser.add_argument("--yes", action="store_true", help="do not ask on a terminal")
    _add_json(parser)
    _add_db(parser)


def _add_graph(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "graph", "draw the graph of an agent, or the plan graph")
    parser.add_argument("name", metavar="NAME", help="name of an agent, hub or plan")
    parser.add_argument("--format", choices=("mermaid", "png", "ascii"), default="mermaid")
    parser.add_argument("--expand", action="store_true", help="draw the graphs of the agents inside it too")
    parser.add_argument("--output", type=Path, metavar="FILE", help="file to write (default: stdout; NAME.png for png)")


def _add_serve(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "serve", "serve an agent to others, over a protocol of theirs")
    protocols = parser.add_subparsers(dest="protocol", metavar="PROTOCOL", required=True)
    a2a = protocols.add_parser("a2a", help="Agent2Agent 1.0 and 0.3: JSON-RPC and REST", description="Serve over A2A.")
    a2a.add_argument("--agent", metavar="NAME", default="manus", help="which agent (default: manus)")
    a2a.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="address to serve (default: 127.0.0.1)")
    a2a.add_argument("--port", type=port, metavar="N", default=10000, help="port to serve (default: 10000)")
    a2a.add_argument("--url", metavar="URL", help="where callers reach it (default: the address and the port)")
    a2a.add_argument("--model", metavar="NAME", help="such as openai:gpt-5, script:FILE or replay:FILE")
    a2a.add_argument("--debug", action="store_true", help="show where an error was raised")
    _add_db(a2a)
    mcp = protocols.add_parser("mcp", help="MCP: each graph a tool, over stdio or HTTP", description="Serve over MCP.")
    mcp.add_argument("--graphs", type=names, metavar="A,B", help="agents, and `plan` (default: all of them)")
    mcp.add_argument("--tools", type=names, metavar="A,B", default=[], help="tools of ours, such as bash,terminate")
    mcp.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp (default: stdio)")
    mcp.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="address to serve (default: 127.0.0.1)")
    mcp.add_argument("--port", type=port, metavar="N", default=10001, help="port to serve (default: 10001)")
    mcp.add_argument("--model", metavar="NAME", help="such as openai:gpt-5, script:FILE or replay:FILE")
    mcp.add_argument("--debug", action="store_true", help="show where an error was raised")
    _add_db(mcp)


def _add_mcp(commands: Commands[ArgumentParser]) -> None:
    parser = _add(commands, "mcp", "list, test or sign in to the MCP servers whose tools agents may use")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list the servers of the settings", description="List the servers.")
    testing = actions.add_parser("test", help="connect to one and list what it offers", description="Test a server.")
    login = actions.add_parser("login", help="sign in to one in the browser", description="Sign in to a server.")
    for each in (testing, login):
        each.add_argument("server", metavar="SERVER")
    for each in (listing, testing):
        _add_json(each)
    for each in (listing, testing, login):
        each.add_argument("--debug", action="store_true", help="show where an error was raised")


def port(text: str) -> int:
    """A number of a port, from 1 to 65535."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError(f"{text!r} is no port from 1 to 65535")
    return int(text)


UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}


def age(text: str) -> timedelta:
    """A span of time of up to 9999 weeks, days, hours or minutes, such as `30d`."""
    from datetime import timedelta

    if text[-1:] not in UNITS or not text[:-1].isdecimal() or len(text) > 5:
        raise ArgumentTypeError(f"{text!r} is no age such as 30d, 12h, 45m or 2w")
    return timedelta(**{UNITS[text[-1]]: int(text[:-1])})


def names(text: str) -> list[str]:
    """Names with commas between them."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found or len(set(found)) < len(found):
        raise ArgumentTypeError(f"{text!r} must be different names with commas between them")
    return found


def _words(text: str) -> str:
    if not text.strip():
        raise ArgumentTypeError("it is empty; say it in words")
    return text


def _folder(text: str) -> Path:
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise ArgumentTypeError(f"{text} is no folder; name one, or one that is to be made")
    return path
