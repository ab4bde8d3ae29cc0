"""The tools of adapters.toml as plain functions that record their runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Tools:
    """The tools of one scene. `ran` has every run, in its order: the tool and its arguments."""

    def __init__(self, on_run: Callable[[str], None] | None = None) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self._on_run = on_run

    def _run(self, tool: str, result: str, **args: Any) -> str:
        self.ran.append((tool, args))
        if self._on_run is not None:
            self._on_run(tool)
        return result

    def functions(self) -> list[Callable[..., str]]:
        """Return the functions, typed and documented as hosts expect them."""

        def lookup(city: str, days: int = 1) -> str:
            """Look the weather of a city up.

            Args:
                city: The name of the city.
                days: For how many days.
            """
            return self._run("lookup", f"sunny in {city} for {days} days", city=city, days=days)

        def delete_file(path: str) -> str:
            """Delete a file.

            Args:
                path: The path of the file.
            """
            return self._run("delete_file", f"deleted {path}", path=path)

        def send_mail(to: str, body: str) -> str:
            """Send a mail.

            Args:
                to: The address of the receiver.
                body: The text of the mail.
            """
            return self._run("send_mail", f"sent to {to}", to=to, body=body)

        def write_file(path: str, content: str) -> str:
            """Write a file.

            Args:
                path: The path of the file.
                content: Its new content.
            """
            return self._run("write_file", f"wrote {path}", path=path, content=content)

        def notify(text: str) -> str:
            """Notify the user.

            Args:
                text: The text of the notification.
            """
            return self._run("notify", f"notified {text}", text=text)

        def fetch(page: str) -> str:
            """Fetch a page.

            Args:
                page: The name of the page.
            """
            return self._run("fetch", f"content of {page}", page=page)

        def refund(order: str) -> str:
            """Refund an order.

            Args:
                order: The number of the order.
            """
            return self._run("refund", f"refunded {order}", order=order)

        def deploy(to: str) -> str:
            """Deploy the newest version.

            Args:
                to: The name of the environment.
            """
            return self._run("deploy", f"deployed to {to}", to=to)

        def pay(to: str) -> str:
            """Pay a person.

            Args:
                to: The address of the payee.
            """
            return self._run("pay", f"paid {to}", to=to)

        return [lookup, delete_file, send_mail, write_file, notify, fetch, refund, deploy, pay]
