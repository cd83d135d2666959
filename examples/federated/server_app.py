"""The server: starts with random weights, and averages the weights of the clients in each round."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, Context, MetricRecord, RecordDict
from flwr.serverapp import Grid, NeighboringRelation, PrivacyConfig, RdpAccountant, SamplingMethod, ServerApp
from flwr.serverapp.strategy import DifferentialPrivacyClientSideFixedClipping, FedAvg
from learner import Learner, read_data

DELTA = 1e-5
app = ServerApp()


def initial_weights(learner: Learner) -> ArrayRecord:
    """Returns He initialization: normal with the variance 2 / fan-in; biases are zero."""
    random = np.random.default_rng(0)
    return ArrayRecord(
        {
            name: Array((random.standard_normal(w.shape) * np.sqrt(2 / w[0].size) * (w.ndim > 1)).astype(w.dtype))
            for name, w in learner.weights.items()
        }
    )


def who_trained(replies: list[RecordDict], _: str) -> MetricRecord:
    """The clients of a round."""
    return MetricRecord({"client": sorted(int(reply["metrics"]["client"]) for reply in replies)})


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    clients = int(config["clients"])
    learner = Learner(str(config["model-file"]))
    images, labels = read_data(str(config["test-file"]))

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        learner.weights = {name: array.numpy() for name, array in arrays.items()}
        return MetricRecord({"accuracy": learner.accuracy(images, labels)})

    strategy = FedAvg(
        fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients, train_metrics_aggr_fn=who_trained
    )
    noise, accountant = float(config["noise-multiplier"]), None
    if noise > 0:
        accountant = RdpAccountant(
            PrivacyConfig(DELTA, clients, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION)
        )
        strategy = DifferentialPrivacyClientSideFixedClipping(
            strategy, noise, float(config["clipping-norm"]), clients, accountant=accountant
        )
    result = strategy.start(grid, initial_weights(learner), int(config["rounds"]), evaluate_fn=evaluate)
    trained = {number: list(metrics["client"]) for number, metrics in result.train_metrics_clientapp.items()}
    if any(trained.get(number) != list(range(clients)) for number in range(1, int(config["rounds"]) + 1)):
        raise RuntimeError(
            f"not all clients trained in all rounds (round: clients): {trained}; see the logs of the clients"
        )
    learner.weights = {name: array.numpy() for name, array in result.arrays.items()}
    learner.export(str(config["exported-file"]))
    report = {
        "accuracy": [one["accuracy"] for one in result.evaluate_metrics_serverapp.values()],
        "clients": list(trained.values()),
        "epsilon": accountant.get_privacy_spent().epsilon if accountant else None,
        "delta": DELTA,
    }
    Path(str(config["report-file"])).write_text(json.dumps(report))
