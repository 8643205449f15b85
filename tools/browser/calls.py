"""What a call does with the browser that it is lent. This imports Playwright; the tool itself does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from typing_extensions import NotRequired, TypedDict

from ...state.errors import ToolFailure
from ..run_services import Observation, RunServices
from .actions.dispatch import READING, check_arguments, perform
from .arguments import Search
from .credentials import Credentials, mask, mask_all
from .extraction import asking
from .failures import failures_of
from .keeping import keep, keep_picture, kept
from .notices import Notice
from .page_state import PageState, format_state
from .session import BrowserSession

__all__ = ["BrowserArtifact", "BrowserCall", "BrowserSession", "check_arguments", "kept", "observe"]


class BrowserArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    action: str
    url: str
    """Address of the active tab after the action."""

    notices: list[Notice]
    """What happened beside the action: dialogs, tabs, downloads."""

    state: NotRequired[PageState]
    """Of `state`: what the text tells."""

    screenshot: NotRequired[str]
    """Path, in the workspace, of a picture of the viewport after the action."""

    saved: NotRequired[dict[str, Any]]
    """References of the payloads from which the browser can be opened again."""


async def observe(session: BrowserSession, credentials: Credentials, *, picture: bool) -> Observation:
    """The page as it is at rest, with a picture on request.

    Raises:
        ToolFailure: the page crashed or does not answer.
    """
    with failures_of("the page cannot be read"):
        text = format_state(await session.state())
        image = await session.screenshot(labels=session.settings.labels) if picture else None
    return Observation(mask(_told(text, session.notices.take()), credentials), image)


class BrowserCall:
    """One call, with what it may use."""

    def __init__(
        self,
        services: RunServices,
        credentials: Credentials,
        *,
        model: BaseChatModel | None = None,
        search: Search | None = None,
    ) -> None:
        self._services, self._credentials = services, credentials
        ask = asking(model) if model else services.ask
        self._given: Mapping[str, Any] = {"ask": ask, "search": search, "credentials": credentials}

    async def run(
        self, session: BrowserSession, action: str, arguments: Mapping[str, Any]
    ) -> tuple[str, BrowserArtifact]:
        """Perform the action; its text, and what is kept of the browser after it.

        Raises:
            ToolFailure: the browser could not do it.
        """
        try:
            text, artifact = await self._perform(session, action, arguments)
        except ToolFailure as failure:
            if picture := await self._picture(session):
                failure.artifact = {"screenshot": picture}
            raise
        if picture := await self._picture(session):
            artifact["screenshot"] = picture
        if action not in READING and (saved := await keep(session, self._services)):
            artifact["saved"] = saved
        return mask(text, self._credentials), mask_all(artifact, self._credentials)

    async def _picture(self, session: BrowserSession) -> str | None:
        return await keep_picture(session) if session.settings.screenshots else None

    async def _perform(
        self, session: BrowserSession, action: str, arguments: Mapping[str, Any]
    ) -> tuple[str, BrowserArtifact]:
        state = None
        try:
            with failures_of(f"{action} failed"):
                if action == "state":
                    state = await session.state()
                    text = format_state(state)
                else:
                    text = await perform(session, action, arguments, self._given)
                url = (await session.tabs.page()).url
        except ToolFailure as failure:
            told = _told(str(failure), session.notices.take())
            raise ToolFailure(mask(told, self._credentials)) from failure
        notices = session.notices.take()
        artifact = BrowserArtifact(action=action, url=url, notices=notices)
        if state is not None:
            artifact["state"] = state
        return _told(text, notices), artifact


def _told(text: str, notices: Sequence[Notice]) -> str:
    return "\n".join([text, *(f"({notice['text']})" for notice in notices)])
