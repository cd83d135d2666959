"""A client: trains the weights from the server with its own images, and returns the new weights."""

from __future__ import annotations

from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import fixedclipping_mod
from flwr.clientapp.typing import ClientAppCallable
from learner import Learner, read_data

app = ClientApp()


def clip_update(message: Message, context: Context, train: ClientAppCallable) -> Message:
    """Trains a round. With differential privacy, the update of the weights is clipped to the norm of the server."""
    is_private = float(context.run_config["noise-multiplier"]) > 0
    return fixedclipping_mod(message, context, train) if is_private else train(message, context)


@app.train(mods=[clip_update])
def train(message: Message, context: Context) -> Message:
    device = context.node_config
    images, labels = read_data(str(device["data-file"]))
    learner = Learner(str(device["model-file"]))
    received = message.content["arrays"]
    learner.weights = {name: array.numpy() for name, array in received.items()}
    learner.train(images, labels, int(context.run_config["epochs"]))
    weights = learner.weights
    arrays = ArrayRecord({name: Array(weights[name]) for name in received})
    metrics = MetricRecord({"client": device["client"], "num-examples": len(images)})
    return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)
