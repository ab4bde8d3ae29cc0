"""The shop of the examples: its tools, its policy, the person who is asked, and the script of its model.

The model is a script, so that the examples run without a key; with a key, give the agent a real one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stopgate_client import Question, Yes

POLICY = Path(__file__).with_name("shop.toml")
MESSAGE = "Refund order 7."

SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("read_order", {"order": "7"}),
    ("refund", {"order": "7", "amount": 20}),
    ("refund", {"order": "7", "amount": 120}),
    ("refund", {"order": "7", "amount": 900}),
]


def read_order(order: str) -> str:
    """Read an order.

    Args:
        order: The number of the order.
    """
    print(f"ran: read_order {order}")
    return f"order {order}: a lamp for 900"


def refund(order: str, amount: int) -> str:
    """Refund an order.

    Args:
        order: The number of the order.
        amount: The amount.
    """
    print(f"ran: refund {order} {amount}")
    return f"refunded {amount}"


def person(question: Question) -> Yes:
    """Answer for the person in front of the program: a dialog of your own."""
    print(f"asked: {question.tool} {question.args['amount']}: {question.public}")
    return Yes()
