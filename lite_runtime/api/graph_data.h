#ifndef MSLITE_API_GRAPH_DATA_H
#define MSLITE_API_GRAPH_DATA_H

#include <memory>

#include "include/api/graph.h"
#include "plan/program.h"

namespace mindspore {
class Graph::GraphData {
 public:
  std::shared_ptr<mslite::SharedModel> model;
};
}  // namespace mindspore

#endif
