"""Serves requests from several threads: parallel_requests.py MODEL REQUESTS"""

import sys
import threading

import mindspore_lite as mslite
import numpy as np

context = mslite.Context()
context.target = ["cpu"]
context.cpu.thread_num = 1
context.parallel.workers_num = 2
context.parallel.config_info = {"weight": {"weight_path": "."}}

runner = mslite.ModelParallelRunner()
runner.build_from_file(model_path=sys.argv[1], context=context)

requests = int(sys.argv[2])
answers = [0.0] * requests


def serve(number: int) -> None:
    inputs = runner.get_inputs()
    shape = [1 if size < 0 else size for size in inputs[0].shape]
    inputs[0].shape = shape
    inputs[0].set_data_from_numpy(np.full(shape, number, np.float32))
    outputs = runner.predict(inputs)
    answers[number] = float(outputs[0].get_data_to_numpy().sum())


threads = [threading.Thread(target=serve, args=(number,)) for number in range(requests)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*answers)
