/// GraphCell: the wrapper of a graph that Model::Build takes.
#ifndef MINDSPORE_INCLUDE_API_CELL_H
#define MINDSPORE_INCLUDE_API_CELL_H

#include <memory>
#include <utility>

#include "include/api/graph.h"

namespace mindspore {
class MS_API CellBase {
 public:
  CellBase() = default;
  virtual ~CellBase() = default;
};

template <class T>
class MS_API Cell : public CellBase {
 public:
  ~Cell() override = default;
};

class MS_API GraphCell final : public Cell<GraphCell> {
 public:
  GraphCell() = default;
  ~GraphCell() override = default;
  explicit GraphCell(const Graph &graph) : graph_(std::make_shared<Graph>(graph)) {}
  explicit GraphCell(Graph &&graph) : graph_(std::make_shared<Graph>(std::move(graph))) {}
  explicit GraphCell(const std::shared_ptr<Graph> &graph) : graph_(graph) {}

  const std::shared_ptr<Graph> &GetGraph() const { return graph_; }

 private:
  std::shared_ptr<Graph> graph_;
};
}  // namespace mindspore

#endif
