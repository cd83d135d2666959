#include "engine/branches.h"

#include <algorithm>
#include <numeric>

#include "engine/costs.h"

namespace mslite {
namespace {
constexpr size_t kNowhere = SIZE_MAX;

// The nodes between two nodes that are on all paths.
struct Section {
  size_t begin = 0;
  size_t end = 0;  // the second of these nodes, or the end of the model
};

// A connected component of a section.
struct Branch {
  std::vector<size_t> nodes;
  double on_cpu = 0;  // seconds
  double on_device = 0;
  double left = 0;    // time of CPU nodes that do not wait for nodes of the backend in the branch
  double copies = 0;  // time of copying its inputs and outputs
  bool has_taken = false;
  bool has_left = false;

  bool IsOfEngine() const { return has_taken && !has_left; }
};

class BranchPlanner {
 public:
  BranchPlanner(const Part &whole, const std::vector<bool> &is_taken, double flops_per_second)
      : whole_(whole), is_taken_(is_taken), flops_per_second_(flops_per_second) {
    const size_t count = whole.nodes.size();
    maker_.assign(whole.tensors.size(), kNowhere);
    last_use_.assign(whole.tensors.size(), kNowhere);
    for (size_t i = 0; i < count; ++i) {
      for (const int32_t input : whole.nodes[i].inputs) last_use_[static_cast<size_t>(input)] = i;
      for (const int32_t output : whole.nodes[i].outputs) maker_[static_cast<size_t>(output)] = i;
    }
    for (const int32_t output : whole.outputs) last_use_[static_cast<size_t>(output)] = count;
  }

  // Returns the sections with several branches.
  std::vector<Section> Sections() const {
    const size_t count = whole_.nodes.size();
    // For each node: the number of nodes and model inputs whose outputs are used later.
    std::vector<int64_t> change(count + 1, 0);
    const auto lives = [&](size_t first, size_t last) {
      if (last == kNowhere || last <= first) return;
      ++change[first];
      --change[last];
    };
    for (const int32_t input : whole_.inputs) lives(0, last_use_[static_cast<size_t>(input)]);
    for (size_t i = 0; i < count; ++i) {
      size_t last = i;
      for (const int32_t output : whole_.nodes[i].outputs) {
        const size_t use = last_use_[static_cast<size_t>(output)];
        if (use != kNowhere) last = std::max(last, use);
      }
      lives(i, last);
    }
    std::vector<Section> sections;
    size_t begin = 0;
    int64_t alive = 0;
    for (size_t i = 0; i < count; ++i) {
      alive += change[i];
      if (alive != 1 || !IsAliveBehind(i)) continue;
      if (i > begin + 1) sections.push_back({begin, i});
      begin = i + 1;
    }
    if (count > begin + 1) sections.push_back({begin, count});
    return sections;
  }

  std::vector<Branch> BranchesOf(const Section &section) const {
    const size_t count = section.end - section.begin;
    std::vector<size_t> first(count);
    std::iota(first.begin(), first.end(), size_t{0});
    const auto first_of = [&](size_t index) {
      while (first[index] != index) index = first[index];
      return index;
    };
    for (size_t i = 0; i < count; ++i) {
      for (const int32_t input : whole_.nodes[section.begin + i].inputs) {
        const size_t maker = maker_[static_cast<size_t>(input)];
        if (maker == kNowhere || maker < section.begin || maker >= section.end) continue;
        const size_t ours = first_of(i);
        const size_t theirs = first_of(maker - section.begin);
        first[std::max(ours, theirs)] = std::min(ours, theirs);
      }
    }
    std::vector<size_t> place(count, kNowhere);
    std::vector<Branch> branches;
    std::vector<bool> waits(count);  // runs on the backend, or waits for it
    for (size_t i = 0; i < count; ++i) {
      const std::vector<int32_t> &inputs = whole_.nodes[section.begin + i].inputs;
      waits[i] =
          is_taken_[section.begin + i] || std::any_of(inputs.begin(), inputs.end(), [&](int32_t input) {
            const size_t maker = maker_[static_cast<size_t>(input)];
            return maker != kNowhere && maker >= section.begin && maker < section.end && waits[maker - section.begin];
          });
      size_t &index = place[first_of(i)];
      if (index == kNowhere) {
        index = branches.size();
        branches.emplace_back();
      }
      Add(section, section.begin + i, waits[i], &branches[index]);
    }
    return branches;
  }

  // Returns the cost of ending a partition before the section: another wait, and copies of the section's inputs to the
  // CPU and back if the backend computes them.
  double PriceOfCut(const Section &section) const {
    double bytes = 0;
    for (size_t i = section.begin; i < section.end; ++i) {
      for (const int32_t input : whole_.nodes[i].inputs) {
        const size_t maker = maker_[static_cast<size_t>(input)];
        if (maker != kNowhere && maker < section.begin && is_taken_[maker]) {
          bytes = std::max(bytes, static_cast<double>(BytesOf(whole_.tensors[static_cast<size_t>(input)].value)));
        }
      }
    }
    return CopiesCost() ? kSecondsPerWait + SecondsToCopy(2 * bytes) : 0;
  }

 private:
  bool IsAliveBehind(size_t node) const {
    const std::vector<int32_t> &outputs = whole_.nodes[node].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](int32_t output) {
      const size_t use = last_use_[static_cast<size_t>(output)];
      return use != kNowhere && use > node;
    });
  }

  void Add(const Section &section, size_t index, bool waits, Branch *branch) const {
    const Part::Node &node = whole_.nodes[index];
    branch->nodes.push_back(index);
    (is_taken_[index] ? branch->has_taken : branch->has_left) = true;
    if (!is_taken_[index] && !HasShapes(node)) return;
    const double seconds = SecondsToCompute(whole_, node);
    branch->on_cpu += seconds;
    if (!waits) branch->left += seconds;
    branch->on_device += seconds * kFlopsPerSecond / flops_per_second_;
    for (const int32_t input : node.inputs) {
      const size_t maker = maker_[static_cast<size_t>(input)];
      if (maker != kNowhere && maker < section.begin) CountCopy(input, branch);
    }
    for (const int32_t output : node.outputs) {
      const size_t use = last_use_[static_cast<size_t>(output)];
      if (use != kNowhere && use >= section.end) CountCopy(output, branch);
    }
  }

  void CountCopy(int32_t tensor, Branch *branch) const {
    branch->copies += SecondsToCopy(static_cast<double>(BytesOf(whole_.tensors[static_cast<size_t>(tensor)].value)));
  }

  bool HasShapes(const Part::Node &node) const {
    const auto is_known = [&](int32_t tensor) { return HasShape(whole_.tensors[static_cast<size_t>(tensor)].value); };
    return node.params != nullptr && std::all_of(node.inputs.begin(), node.inputs.end(), is_known) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), is_known);
  }

  const Part &whole_;
  const std::vector<bool> &is_taken_;
  double flops_per_second_;
  std::vector<size_t> maker_;     // tensor -> node that produces it
  std::vector<size_t> last_use_;  // tensor -> last node that reads it; the number of nodes for an output of the model
};

// Selects branches of the backend that move to the CPU: the smallest first, as long as this reduces the latency.
// Returns the time that backend and CPU run at the same time.
double Divide(std::vector<Branch> *branches, bool may_move, std::vector<const Branch *> *moved) {
  double on_cpu = 0;
  double on_device = 0;
  std::vector<const Branch *> movable;
  for (const Branch &branch : *branches) {
    if (branch.IsOfEngine()) {
      on_device += branch.on_device;
      movable.push_back(&branch);
    } else {
      on_cpu += branch.left;
    }
  }
  std::sort(movable.begin(), movable.end(), [](const Branch *a, const Branch *b) {
    return a->on_cpu != b->on_cpu ? a->on_cpu < b->on_cpu
                                  : a < b;  // compares addresses: all branches are in one vector
  });
  for (size_t i = 0; may_move && i + 1 < movable.size(); ++i) {
    const Branch &next = *movable[i];
    const double cpu = on_cpu + next.on_cpu + next.copies;
    if (std::max(cpu, on_device - next.on_device) >= std::max(on_cpu, on_device)) break;
    on_cpu = cpu;
    on_device -= next.on_device;
    moved->push_back(&next);
  }
  return std::min(on_cpu, on_device);
}
}  // namespace

Branching PlanBranches(const Part &whole, const std::vector<bool> &is_taken, double flops_per_second, bool may_move) {
  Branching result;
  const BranchPlanner planner(whole, is_taken, flops_per_second);
  for (const Section &section : planner.Sections()) {
    std::vector<Branch> branches = planner.BranchesOf(section);
    if (branches.size() < 2) continue;
    std::vector<const Branch *> moved;
    if (Divide(&branches, may_move, &moved) <= planner.PriceOfCut(section)) continue;
    for (const Branch *branch : moved) {
      result.moved.insert(result.moved.end(), branch->nodes.begin(), branch->nodes.end());
    }
    result.cuts.push_back(section.begin);
    result.cuts.push_back(section.end);
  }
  return result;
}
}  // namespace mslite
