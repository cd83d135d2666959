#!/usr/bin/env python3
"""Serves `.ms` models over HTTP with Ray Serve, in KServe's Open Inference Protocol v2.

    pip install '../..[serve]'
    python serve_models.py digits=digits.ms --replicas 2
    curl http://127.0.0.1:8000/v2/models/digits

Each replica is a process with a ModelParallelRunner for each model. How replicas are spread over machines is Ray's business:
on a cluster, start this on its head node.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import open_inference as protocol
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import mslite

MAX_BYTES = 256 << 20
"""Maximum size of a request body."""


class _NoModel(Exception):
    """A request for a model that is not served."""


def _refusal(reason: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(protocol.describe_error(reason), status, headers, media_type="application/json")


@serve.deployment
class InferenceServer:
    """Handles the requests of one replica."""

    def __init__(self, models: dict[str, str], workers: int, threads: int) -> None:
        self._models = {}
        for name, path in models.items():
            context = mslite.Context()
            context.cpu.thread_num = threads
            context.parallel.workers_num = workers
            self._models[name] = mslite.ModelParallelRunner()
            self._models[name].build_from_file(path, context)

    async def __call__(self, request: Request) -> Response:
        parts = [part for part in request.url.path.split("/") if part]
        try:
            if request.method == "GET":
                return self._describe(parts)
            if request.method == "POST" and len(parts) == 4 and parts[:2] == ["v2", "models"] and parts[3] == "infer":
                return await self._infer(parts[2], request)
        except _NoModel as error:
            return _refusal(f"model '{error}' does not exist", 404)
        except protocol.BadRequest as error:
            return _refusal(str(error), 400)
        except asyncio.QueueFull:
            return _refusal("too many waiting requests", 503, {"Retry-After": "1"})
        return _refusal(f"{request.method} {request.url.path} is not of the protocol", 404)

    def _model(self, name: str) -> mslite.ModelParallelRunner:
        if name not in self._models:
            raise _NoModel(name)
        return self._models[name]

    def _describe(self, parts: list[str]) -> Response:
        if parts == ["v2"]:
            return JSONResponse(protocol.describe_server())
        if parts in (["v2", "health", "live"], ["v2", "health", "ready"]):
            return JSONResponse({})
        if len(parts) in (3, 4) and parts[:2] == ["v2", "models"]:
            model = self._model(parts[2])
            if len(parts) == 3:
                return JSONResponse(protocol.describe_model(parts[2], model.get_inputs(), model.get_outputs()))
            if parts[3] == "ready":
                return JSONResponse({"name": parts[2], "ready": True})
        return _refusal(f"GET /{'/'.join(parts)} is not of the protocol", 404)

    async def _infer(self, name: str, request: Request) -> Response:
        model = self._model(name)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                return _refusal(f"the body has more than {MAX_BYTES} bytes", 413)
        content, headers = await protocol.infer(name, model, bytes(body), request.headers.get(protocol.HEADER_LENGTH))
        return Response(content, headers=headers)


def application(models: dict[str, str], replicas: int, workers: int, threads: int) -> Any:
    """The Ray Serve application; `models`: name -> absolute path of a `.ms` file."""
    deployment = InferenceServer.options(num_replicas=replicas, ray_actor_options={"num_cpus": workers * threads})
    return deployment.bind(models, workers, threads)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Serves .ms models over HTTP (Open Inference Protocol v2) with Ray Serve."
    )
    parser.add_argument("models", nargs="+", metavar="NAME=FILE.ms")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--replicas", type=int, default=1, help="number of server processes (1)")
    parser.add_argument("--workers", type=int, default=1, help="parallel requests per process (1)")
    parser.add_argument("--threads", type=int, default=1, help="threads per request (1)")
    asked = parser.parse_args()
    models = {}
    for text in asked.models:
        name, _, file = text.partition("=")
        if not name or not Path(file).is_file():
            parser.error(f"'{text}' is no NAME=FILE.ms of a file that is there")
        models[name] = str(Path(file).resolve())
    serve.start(http_options={"host": asked.host, "port": asked.port})
    serve.run(application(models, asked.replicas, asked.workers, asked.threads), blocking=True)


if __name__ == "__main__":
    main()
