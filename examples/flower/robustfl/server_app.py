"""The server: one of boba's rules, or Flower's FedAvg to compare with."""

from __future__ import annotations

from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from boba.flower import RobustStrategy, numpy_server_update
from robustfl.task import BATCH, accuracy, gradient, initial_weights, server_data, test_data

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Trains for the rounds of the run, and prints the accuracy on the server's test data."""
    settings = context.run_config
    inputs, labels = test_data()

    def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
        reached = accuracy(arrays.to_numpy_ndarrays(), inputs, labels)
        print(f"round {server_round}: accuracy {reached:.4f}", flush=True)
        return MetricRecord({"accuracy": reached})

    rounds = int(settings["rounds"])
    result = make_strategy(context).start(
        grid=grid,
        initial_arrays=ArrayRecord(initial_weights()),
        num_rounds=rounds,
        timeout=float(settings["timeout"]),
        evaluate_fn=evaluate,
    )
    reached = result.evaluate_metrics_serverapp[rounds]["accuracy"]
    print(f"final accuracy {reached:.4f}", flush=True)


def make_strategy(context: Context) -> FedAvg:
    """FedAvg as Flower has it, or with a rule of boba in its place."""
    settings = context.run_config
    nodes = int(settings["min-nodes"])
    if settings["rule"] == "fedavg":
        return FedAvg(fraction_evaluate=0.0, min_train_nodes=nodes, min_available_nodes=nodes)
    mu = float(settings["proximal-mu"])
    server_update = numpy_server_update(
        gradient,
        server_data(int(settings["server-samples"])),
        lr=float(settings["lr"]),
        steps=int(settings["local-steps"]),
        batch_size=BATCH,
        proximal_mu=mu,
    )
    return RobustStrategy(
        fraction_evaluate=0.0,
        min_train_nodes=nodes,
        min_available_nodes=nodes,
        rule=str(settings["rule"]),
        server_update=server_update,
        proximal_mu=mu,
        audit=str(settings["audit"]) or None,
    )
