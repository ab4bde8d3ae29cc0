"""An agent of Google ADK whose tool calls the gate decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

import shop
import stopgate_client
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from stopgate_client.adapters.google_adk import StopgatePlugin, session_name

logging.disable(logging.WARNING)


class Model(BaseLlm):
    """Plays the script, and then repeats what it read last."""

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        read = [part.function_response.response for part in parts if part.function_response]
        if len(read) == len(shop.SCRIPT):
            part = types.Part(text=(read[-1] or {}).get("error"))
        else:
            name, args = shop.SCRIPT[len(read)]
            part = types.Part(function_call=types.FunctionCall(id=str(len(read)), name=name, args=args))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


MODEL = Model(model="script")


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    agent = LlmAgent(name="shop", model=MODEL, tools=[shop.read_order, shop.refund])
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[StopgatePlugin(gate)]))

    session = await runner.session_service.create_session(app_name="shop", user_id="anna")
    await gate.session(id=session_name(session), user_text=shop.MESSAGE)

    message = types.Content(role="user", parts=[types.Part(text=shop.MESSAGE)])
    async for event in runner.run_async(user_id="anna", session_id=session.id, new_message=message):
        if event.is_final_response() and event.content and event.content.parts:
            print("model:", event.content.parts[0].text)
    await gate.close()


asyncio.run(main())
