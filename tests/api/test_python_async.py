"""Awaitable predictions: order, exceptions, canceling, a queue with an end, limits, threads, and how Python ends."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest

import mslite
from tests.api.models import FOR_EVER, Array, X, built, counting_file, dense_file, wanted

ZERO: Array = np.zeros(3, np.float32)
Predictor = mslite.Model | mslite.ModelParallelRunner
LIMIT = 60


@pytest.fixture(scope="module")
def count(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return counting_file(tmp_path_factory.mktemp("async") / "count.ms")


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dense_file(tmp_path_factory.mktemp("async") / "dense.ms")


def runner_of(path: Path, workers: int) -> mslite.ModelParallelRunner:
    context = mslite.Context()
    context.cpu.thread_num = 1
    context.parallel.workers_num = workers
    runner = mslite.ModelParallelRunner()
    runner.build_from_file(str(path), context)
    assert runner.workers_num == workers
    return runner


def counted(n: int) -> list[Array]:
    """Inputs of the counting model, in the order of its inputs."""
    return [np.asarray(n), ZERO]


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(main(), LIMIT)

    asyncio.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


@pytest.fixture(params=[0, 1, 3])
def counting(request: pytest.FixtureRequest, count: Path) -> Predictor:
    """A model, and runners of one worker and of three."""
    workers: int = request.param
    return runner_of(count, workers) if workers else built(count)


def test_results(counting: Predictor) -> None:
    async def main() -> None:
        results = await asyncio.gather(*(counting.predict_async(counted(n)) for n in range(40)))
        assert [y.get_data_to_numpy().tolist() for (y,) in results] == [[n] * 3 for n in range(40)]

    run(main)


def test_the_loop_goes_on_while_a_model_runs(counting: Predictor) -> None:
    async def main() -> None:
        task = asyncio.create_task(counting.predict_async([FOR_EVER, ZERO]))
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert not task.done()
        await until(counting.cancel)
        with pytest.raises(RuntimeError, match="canceled"):
            await task
        assert not counting.cancel()
        assert (await counting.predict_async(counted(3)))[0].get_data_to_numpy().tolist() == [3, 3, 3]

    run(main)


def test_requests_of_a_model_run_in_the_order_in_which_they_came(count: Path) -> None:
    """Among those of threads, too: each writes when it has run, and takes longer than those behind it."""
    model = built(count)
    done: list[int] = []

    def in_thread() -> None:
        model.predict(counted(500))
        done.append(10)

    async def main() -> None:
        async def one(number: int) -> None:
            await model.predict_async(counted(10_000 // (number + 1)))
            done.append(number)

        blocker = asyncio.create_task(model.predict_async([FOR_EVER, ZERO]))
        await asyncio.sleep(0)
        first = [asyncio.create_task(one(number)) for number in range(4)]
        await asyncio.sleep(0)
        await until(lambda: len(model._workers._waiting) == 4)
        thread = threading.Thread(target=in_thread)
        thread.start()
        await until(lambda: len(model._workers._waiting) == 5)  # the thread's among them
        last = [asyncio.create_task(one(number)) for number in range(11, 14)]
        await asyncio.sleep(0)
        await until(model.cancel)
        with pytest.raises(RuntimeError, match="canceled"):
            await blocker
        await asyncio.gather(*first, *last)
        thread.join()

    run(main)
    assert done.index(10) < done.index(12)  # the event loop hears of 11 a moment after the thread has gone on
    assert [number for number in done if number != 10] == [0, 1, 2, 3, 11, 12, 13]


def test_what_waits_is_taken_out_when_it_is_canceled(count: Path) -> None:
    model = built(count)

    async def main() -> None:
        blocker = asyncio.create_task(model.predict_async([FOR_EVER, ZERO]))
        await asyncio.sleep(0)
        target = np.full(3, -1, np.float32)
        waiting = asyncio.create_task(model.predict_async(counted(4), [target]))
        behind = asyncio.create_task(model.predict_async(counted(5)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not blocker.done()
        blocker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await blocker
        assert (await behind)[0].get_data_to_numpy().tolist() == [5, 5, 5]
        assert target.tolist() == [-1, -1, -1]

    run(main)


def test_canceling_ends_that_run_and_no_other(counting: Predictor) -> None:
    """At every moment of a request's life: its neighbors are never ended."""

    async def main() -> None:
        for round_ in range(60):
            ends = asyncio.create_task(counting.predict_async([FOR_EVER, ZERO]))
            others = [asyncio.create_task(counting.predict_async(counted(200 + n))) for n in range(4)]
            if round_ % 3:
                await asyncio.sleep(0.0005 * (round_ % 7))
            ends.cancel()
            with pytest.raises(asyncio.CancelledError):
                await ends
            results = await asyncio.gather(*others)
            assert [y.get_data_to_numpy()[0] for (y,) in results] == [200, 201, 202, 203]

    run(main)


def test_outputs_are_left_alone_after_canceling(counting: Predictor) -> None:
    async def main() -> None:
        for _ in range(20):
            target = np.full(3, -1, np.float32)
            task = asyncio.create_task(counting.predict_async([FOR_EVER, ZERO], [target]))
            await asyncio.sleep(0.002)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            kept = target.copy()
            await counting.predict_async(counted(1000))
            assert target.tobytes() == kept.tobytes()

    run(main)


def test_timeouts_cancel(counting: Predictor) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await counting.predict_async([FOR_EVER, ZERO])
        assert (await counting.predict_async(counted(2)))[0].get_data_to_numpy()[0] == 2

    run(main)


def test_exceptions_come_at_await(dense: Path) -> None:
    model = built(dense)

    async def main() -> None:
        wrong = np.zeros((2, 7), np.float32)
        results = await asyncio.gather(
            model.predict_async([X]), model.predict_async([wrong]), model.predict_async([X]), return_exceptions=True
        )
        assert isinstance(results[1], RuntimeError)
        assert "differ" in str(results[1])
        for result in (results[0], results[2]):
            assert isinstance(result, list)
            np.testing.assert_allclose(np.asarray(result[0]), wanted(X), rtol=1e-6)
        with pytest.raises(ValueError, match="1 input, 0 were given"):
            await model.predict_async([])
        with pytest.raises(TypeError, match="FLOAT32"):
            await model.predict_async([X.astype(np.float64)])

    run(main)


def test_a_full_queue_pushes_back(counting: Predictor) -> None:
    counting.max_waiting = 2

    async def main() -> None:
        workers = counting.workers_num if isinstance(counting, mslite.ModelParallelRunner) else 1
        running = [asyncio.create_task(counting.predict_async([FOR_EVER, ZERO])) for _ in range(workers)]
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(counting.predict_async(counted(n))) for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(asyncio.QueueFull, match="max_waiting is 2"):
            await counting.predict_async(counted(9))
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        assert [(await task)[0].get_data_to_numpy()[0] for task in waiting] == [0, 1]
        await counting.predict_async(counted(9))

    run(main)


def test_workers_of_a_runner_run_at_the_same_time(count: Path) -> None:
    """Both runs go on at once: neither ends by itself."""
    runner = runner_of(count, 2)

    async def main() -> None:
        tasks = [asyncio.create_task(runner.predict_async([FOR_EVER, ZERO])) for _ in range(2)]
        await asyncio.sleep(0.02)
        third = asyncio.create_task(runner.predict_async(counted(7)))
        await asyncio.sleep(0.02)
        assert not third.done()
        tasks[0].cancel()
        assert (await third)[0].get_data_to_numpy()[0] == 7
        assert not tasks[1].done()
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(main)


def test_many_threads(counting: Predictor) -> None:
    failures: list[str] = []

    def work(factor: int) -> None:
        for n in range(30):
            (y,) = counting.predict([np.asarray(n), ZERO + np.float32(factor)])
            if y.get_data_to_numpy().tolist() != [n + factor] * 3:
                failures.append(f"{n} + {factor} is {y.get_data_to_numpy()}")

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [("steps", 1000, "1000 operators"), ("milliseconds", 20, "20 ms"), ("bytes", 1, "memory")],
)
def test_run_limits(limit: str, value: int, reason: str, count: Path) -> None:
    context = mslite.Context()
    setattr(context.run_limits, limit, value)
    model = built(count, context)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=reason):
            model.predict([FOR_EVER if limit != "bytes" else np.asarray(1), np.zeros(3, np.float32)])
    if limit != "bytes":
        assert model.predict(counted(2))[0].get_data_to_numpy()[0] == 2


def test_models_and_their_threads_go(count: Path) -> None:
    others = set(threading.enumerate())
    model = built(count)

    async def main(used: mslite.Model) -> None:
        await asyncio.gather(*(used.predict_async(counted(n)) for n in range(5)))

    asyncio.run(main(model))
    (thread,) = set(threading.enumerate()) - others
    ghost = weakref.ref(model)
    del model
    gc.collect()
    assert ghost() is None
    thread.join(LIMIT)
    assert not thread.is_alive()


PROLOGUE = """
import asyncio, os, sys, threading, time
import numpy as np
import mslite

context = mslite.Context()
context.cpu.thread_num = 2
model = mslite.Model()
model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
FOR_EVER = [np.asarray(10**15), np.zeros(3, np.float32)]
SHORT = [np.asarray(2), np.zeros(3, np.float32)]
"""
ENDS = {
    "tasks of asyncio.run": """
async def main():
    tasks = [asyncio.create_task(model.predict_async(FOR_EVER)) for _ in range(5)]
    await asyncio.sleep(0.05)
asyncio.run(main())
""",
    "a loop that is never closed": """
loop = asyncio.new_event_loop()
task = loop.create_task(model.predict_async(FOR_EVER))
waiting = loop.create_task(model.predict_async(FOR_EVER))
loop.run_until_complete(asyncio.sleep(0.05))
loop.set_exception_handler(lambda loop, context: None)
""",
    "daemon threads": """
def work():
    while True:
        model.predict(FOR_EVER)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
threading.excepthook = lambda arguments: None
time.sleep(0.05)
""",
    "short runs in daemon threads": """
def work():
    while True:
        model.predict(SHORT)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
threading.excepthook = lambda arguments: None
time.sleep(0.05)
""",
    "an exception": """
async def main():
    task = asyncio.create_task(model.predict_async(FOR_EVER))
    await asyncio.sleep(0.05)
    sys.exit(0)
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", ENDS)
def test_python_ends_with_requests_in_flight(name: str, count: Path) -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", PROLOGUE + ENDS[name], str(count)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "terminate" not in done.stderr
        assert "Fatal" not in done.stderr


FORK = """
async def one():
    return (await model.predict_async(SHORT))[0].get_data_to_numpy().tolist()

busy = mslite.Model()
busy.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
threading.Thread(target=lambda: busy.predict(FOR_EVER), daemon=True).start()
threading.excepthook = lambda arguments: None
for _ in range(20):
    assert asyncio.run(one()) == [2, 2, 2]
    child = os.fork()
    if child == 0:
        for _ in range(5):
            assert asyncio.run(one()) == [2, 2, 2]
        assert model.predict(SHORT)[0].get_data_to_numpy().tolist() == [2, 2, 2]
        try:
            busy.predict(SHORT)
        except RuntimeError as error:
            assert "forked" in str(error)
        else:
            raise AssertionError("a model that ran in the parent runs in the child")
        again = mslite.Model()
        again.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
        assert again.predict(SHORT)[0].get_data_to_numpy().tolist() == [2, 2, 2]
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX's")
def test_children_of_a_fork_run_models(count: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + FORK, str(count)], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
