// Which layers of a model take their values from a file by their names.
#ifndef PACELINE_COMMON_KERAS_NAME_MATCH_H_
#define PACELINE_COMMON_KERAS_NAME_MATCH_H_

#include <string>
#include <vector>

#include "common/model/graph.h"
#include "common/tensor/shape.h"

namespace paceline {

// A variable in a file.
struct NamedWeight {
  // "<layer>/<variable>", "base/conv2d/kernel" in a model in the model.
  std::string name;
  // Where the file has it.
  std::string path;
  Shape shape;
};

// Lists are of layers that have variables, and safe to print.
struct NameMatch {
  // By variable, an index into Graph::variables: where the file has its values;
  // "" if it takes none.
  std::vector<std::string> paths;
  // Layers whose variables the file has under their names, with their shapes,
  // and no others.
  std::vector<std::string> matched;
  // Layers of the model of which the file has nothing.
  std::vector<std::string> not_in_file;
  // Layers of which the file has something else, with both shapes: "dense:
  // kernel has shape (4, 2) in the file, (4, 3) in the model".
  std::vector<std::string> different;
  // Layers of the file that the model does not have.
  std::vector<std::string> not_in_model;
};

// Takes a layer whole or not at all.
NameMatch MatchByName(const Graph& graph,
                      const std::vector<NamedWeight>& stored);

// For people, in several lines; long lists are cut. `path`: of the file.
std::string NameMatchReport(const NameMatch& match, const std::string& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_NAME_MATCH_H_
