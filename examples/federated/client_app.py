"""A device: trains the weights that it is sent with the images that it has, and sends the weights back."""

from __future__ import annotations

from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import fixedclipping_mod
from flwr.clientapp.typing import ClientAppCallable
from learner import Learner, share_of


def clip_update(message: Message, context: Context, train: ClientAppCallable) -> Message:
    """With differential privacy the change of the weights is scaled to the norm that the server asks for."""
    private = float(context.run_config["noise-multiplier"]) > 0
    return fixedclipping_mod(message, context, train) if private else train(message, context)


app = ClientApp()


@app.train(mods=[clip_update])
def train(message: Message, context: Context) -> Message:
    client = int(context.node_config["partition-id"])
    images, labels = share_of(client, int(context.run_config["clients"]))
    learner = Learner(str(context.run_config["model-file"]))
    arrays = message.content["arrays"]
    learner.weights = {name: array.numpy() for name, array in arrays.items()}
    loss = learner.train(images, labels, int(context.run_config["epochs"]))
    weights = ArrayRecord({name: Array(learner.weights[name]) for name in arrays})
    metrics = MetricRecord({"client": client, "loss": loss, "num-examples": len(images)})
    return Message(RecordDict({"arrays": weights, "metrics": metrics}), reply_to=message)
