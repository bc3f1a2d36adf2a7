"""The client: trains on its partition, and attacks if the run says so."""

from __future__ import annotations

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from robustfl.task import SAMPLES, Weights, train

app = ClientApp()


@app.train()
def train_partition(message: Message, context: Context) -> Message:
    """What an honest client replies, passed through the attack of this partition if it has one."""
    partition = int(context.node_config["partition-id"])
    settings = context.run_config
    config = message.content["config"]
    received = message.content["arrays"].to_numpy_ndarrays()
    trained = train(
        partition,
        received,
        lr=float(settings["lr"]),
        steps=int(settings["local-steps"]),
        mu=float(config.get("proximal-mu", 0.0)),
        turn=int(config["server-round"]),
    )
    if partition < int(settings["attackers"]):
        names = [name.strip() for name in str(settings["attack"]).split(",")]
        trained = attack(names[partition % len(names)], received, trained)
    content = RecordDict(
        {"arrays": ArrayRecord(trained), "metrics": MetricRecord({"num-examples": SAMPLES})}
    )
    return Message(content=content, reply_to=message)


def attack(name: str, received: Weights, trained: Weights) -> Weights:
    """What an attacker sends instead of its honest weights."""
    if name == "minus10":
        return [start - 10 * (end - start) for start, end in zip(received, trained)]
    if name == "nan":
        return [np.full_like(end, np.nan) for end in trained]
    raise ValueError(f"no attack '{name}'; attacks are: minus10, nan")
