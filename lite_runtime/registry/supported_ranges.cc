#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "include/mslite/delegate.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;
using Key = const void *;

Key KeyOfTensor(const MSTensor &tensor) { return tensor.impl().get(); }

// The position of a kernel in the new order. The level is the maximum number of changes between supported and
// unsupported kernels on a path to the kernel; supported kernels have odd levels. A path between two kernels of one
// level has no change, so connected kernels of a level are convex, and unconnected ones are independent.
struct Place {
  int32_t level = 0;
  size_t first = 0;  // index of the first kernel of its connected group
  size_t index = 0;

  bool IsBeside(const Place &other) const { return level == other.level && first == other.first; }
  bool operator<(const Place &other) const {
    return std::tie(level, first, index) < std::tie(other.level, other.first, other.index);
  }
};

std::vector<Place> PlacesOf(const std::vector<Kernel *> &kernels, const std::function<bool(Kernel *)> &supports) {
  std::vector<Place> places(kernels.size());
  std::map<Key, size_t> makers;
  // A group is represented by its first kernel (union-find).
  const auto first_of = [&](size_t index) {
    while (places[index].first != index) index = places[index].first;
    return index;
  };
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int32_t side = supports(kernels[i]) ? 1 : 0;
    places[i] = {side, i, i};
    std::vector<size_t> sources;
    for (const MSTensor &input : kernels[i]->inputs()) {
      const auto maker = makers.find(KeyOfTensor(input));
      if (maker == makers.end()) continue;
      sources.push_back(maker->second);
      const int32_t level = places[maker->second].level;
      places[i].level = std::max(places[i].level, level + (level % 2 == side ? 0 : 1));
    }
    for (const size_t source : sources) {
      if (places[source].level != places[i].level) continue;
      const size_t ours = first_of(i);
      const size_t theirs = first_of(source);
      places[std::max(ours, theirs)].first = std::min(ours, theirs);
    }
    for (const MSTensor &output : kernels[i]->outputs()) makers[KeyOfTensor(output)] = i;
  }
  for (size_t i = 0; i < places.size(); ++i) places[i].first = first_of(i);
  return places;
}
}  // namespace

std::vector<KernelRange> SupportedRanges(mindspore::LiteDelegateGraph *model,
                                         const std::function<bool(Kernel *)> &supports, size_t fewest) {
  std::vector<Kernel *> &kernels = *model->nodes();
  std::vector<Place> places = PlacesOf(kernels, supports);
  std::sort(places.begin(), places.end());
  std::vector<Kernel *> sorted;
  std::vector<KernelRange> ranges;
  sorted.reserve(kernels.size());
  for (size_t i = 0; i < places.size(); ++i) {
    sorted.push_back(kernels[places[i].index]);
    if (places[i].level % 2 == 0) continue;
    if (i == 0 || !places[i].IsBeside(places[i - 1])) ranges.push_back({i, i});
    ranges.back().end = i + 1;
  }
  kernels = std::move(sorted);
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(),
                              [&](const KernelRange &range) { return range.end - range.begin < fewest; }),
               ranges.end());
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

Border BorderOf(mindspore::LiteDelegateGraph *model, KernelRange range) {
  const std::vector<Kernel *> &kernels = *model->nodes();
  std::set<Key> made;
  std::set<Key> wanted;
  for (const MSTensor &output : model->outputs()) wanted.insert(KeyOfTensor(output));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const bool is_within = i >= range.begin && i < range.end;
    for (const MSTensor &tensor : is_within ? kernels[i]->outputs() : kernels[i]->inputs()) {
      (is_within ? made : wanted).insert(KeyOfTensor(tensor));
    }
  }
  Border border;
  std::set<Key> listed;
  for (size_t i = range.begin; i < range.end; ++i) {
    for (const MSTensor &input : kernels[i]->inputs()) {
      const Key key = KeyOfTensor(input);
      if (!input.IsConst() && made.count(key) == 0 && listed.insert(key).second) border.inputs.push_back(input);
    }
    for (const MSTensor &output : kernels[i]->outputs()) {
      const Key key = KeyOfTensor(output);
      if (wanted.count(key) != 0 && listed.insert(key).second) border.outputs.push_back(output);
    }
  }
  return border;
}
}  // namespace mslite
