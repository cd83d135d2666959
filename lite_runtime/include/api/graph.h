/// A loaded graph that has not been built yet.
#ifndef MINDSPORE_INCLUDE_API_GRAPH_H
#define MINDSPORE_INCLUDE_API_GRAPH_H

#include <cstddef>
#include <memory>

#include "include/api/types.h"

namespace mindspore {
class MS_API Graph {
 public:
  class GraphData;
  Graph();
  explicit Graph(const std::shared_ptr<GraphData> &graph_data);
  explicit Graph(std::shared_ptr<GraphData> &&graph_data);
  explicit Graph(std::nullptr_t);
  ~Graph();

  enum ModelType ModelType() const;
  bool operator==(std::nullptr_t) const;
  bool operator!=(std::nullptr_t) const;
  const std::shared_ptr<GraphData> &data() const { return graph_data_; }

 private:
  friend class GraphCell;
  friend class Serialization;
  friend class Model;
  std::shared_ptr<GraphData> graph_data_;
};
}  // namespace mindspore

#endif
