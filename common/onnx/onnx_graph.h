// A graph of ONNX in the making: nodes, constants, and names.
//
// Values are known by their names. A node is named after the layer that it is
// part of, and its only output has the node's name: "conv2d/Conv".
#ifndef PACELINE_COMMON_ONNX_ONNX_GRAPH_H_
#define PACELINE_COMMON_ONNX_ONNX_GRAPH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/onnx/symbolic_shape.h"
#include "common/tensor/shape.h"
#include "onnx/onnx_pb.h"

namespace paceline {

// Elements of all constants of a file that a model's sizes determine. They are
// in memory several times as the file is made.
inline constexpr int64_t kMaxConstantElements = int64_t{1} << 25;

onnx::AttributeProto IntAttribute(absl::string_view name, int64_t value);
onnx::AttributeProto IntsAttribute(absl::string_view name,
                                   absl::Span<const int64_t> values);

// The element type of ONNX.
onnx::TensorProto::DataType OnnxTypeOf(DataType type);

// Describes an input or output of a graph. Dimensions that follow the batch are
// "batch", and without a name where there are several of them for each example.
onnx::ValueInfoProto ValueInfo(const std::string& name, DataType type,
                               const SymbolicShape& shape);

// A variable as a file stores it: with a shape, in C order of its elements, and
// then with its axes permuted, unless `permutation` is empty. Kernels have
// their axes in another order in ONNX.
struct OnnxVariable {
  // The index in Graph::variables.
  int variable = 0;
  Shape shape;
  std::vector<int64_t> permutation;

  Shape permuted_shape() const;
  friend bool operator==(const OnnxVariable&, const OnnxVariable&) = default;
};

// Appends to a graph. The graph of a loop's body reads what the graph around it
// has, with whose builder it shares names and constants. Not thread-safe.
class OnnxGraph {
 public:
  // `proto` must outlive the object.
  explicit OnnxGraph(onnx::GraphProto& proto) : proto_(proto), root_(*this) {}
  // A body of a loop in `around`, which must outlive the object.
  OnnxGraph(onnx::GraphProto& proto, OnnxGraph& around)
      : proto_(proto), root_(around.root_), owner_(around.owner_) {}
  OnnxGraph(const OnnxGraph&) = delete;
  OnnxGraph& operator=(const OnnxGraph&) = delete;

  onnx::GraphProto& proto() { return proto_; }

  // The layer of the following nodes.
  void SetOwner(absl::string_view layer) { owner_ = std::string(layer); }

  // `wish`, or with a suffix if a value has that name.
  std::string UniqueName(absl::string_view wish);

  // "conv2d/Conv", to be made unique.
  std::string NodeName(absl::string_view type) const;

  // Appends a node with one output, whose name it returns.
  std::string Add(absl::string_view type, absl::Span<const std::string> inputs,
                  std::vector<onnx::AttributeProto> attributes = {});
  // The same with outputs of these names.
  onnx::NodeProto& AddNode(absl::string_view type,
                           absl::Span<const std::string> inputs,
                           absl::Span<const std::string> outputs);

  // To be called before constants are made whose size the model determines;
  // `tables` of them have this shape. ResourceExhausted if the file would have
  // more than kMaxConstantElements.
  absl::Status ReserveConstants(int64_t tables, const Shape& shape);
  // Constants; equal ones are stored once.
  std::string Numbers(DataType type, const Shape& shape,
                      absl::Span<const double> values);
  std::string Number(DataType type, double value) {
    return Numbers(type, {}, {value});
  }
  // With one axis.
  std::string Integers(absl::Span<const int64_t> values);

  // Declares a value that the file has for a variable.
  void AddVariable(const std::string& name, OnnxVariable variable) {
    root_.variables_[name] = std::move(variable);
  }
  // Those that nodes read, by their names.
  std::map<std::string, OnnxVariable> ReadVariables() const;

  // Nodes for other axes and another shape; of a variable, another variable in
  // their place.
  std::string Transpose(const std::string& value,
                        absl::Span<const int64_t> permutation);
  std::string Reshape(const std::string& value,
                      absl::Span<const int64_t> sizes);

  // The sizes of a shape, where the batch has its size at run time; one axis.
  std::string SizesOf(const SymbolicShape& shape);
  // The value of which axis 0 is the batch. Not of a body.
  void SetBatchOf(std::string value) { batch_of_ = std::move(value); }

 private:
  // The variable if that is the value, and has its axes in order; else null.
  const OnnxVariable* VariableInOrder(const std::string& value) const;
  // The value of a variable that is made of another; one for equal ones.
  std::string Derived(const std::string& from, absl::string_view type,
                      OnnxVariable variable);
  std::string AddConstant(onnx::TensorProto tensor);
  // The batch size at run time; one axis of one element.
  std::string BatchSize();

  onnx::GraphProto& proto_;
  OnnxGraph& root_;
  std::string owner_;
  // --- Of the root ---
  std::set<std::string> names_;
  // By wish: the suffix of its last name, so that many wishes take no time.
  std::map<std::string, int> next_suffixes_;
  std::set<std::string> read_;
  std::map<std::string, OnnxVariable> variables_;
  // By their serialized content.
  std::map<std::string, std::string> constants_;
  int64_t reserved_elements_ = 0;
  std::string batch_of_;
  std::string batch_size_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_ONNX_GRAPH_H_
