#include "common/onnx/onnx_graph.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Appends a number to the bytes of a tensor, little-endian as this machine.
template <typename T>
void AppendRaw(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendRaw(DataType type, double value, std::string& bytes) {
  switch (type) {
    case DataType::kFloat32:
      return AppendRaw(static_cast<float>(value), bytes);
    case DataType::kFloat64:
      return AppendRaw(value, bytes);
    case DataType::kInt32:
      return AppendRaw(static_cast<int32_t>(value), bytes);
    case DataType::kBool:
      return AppendRaw(value != 0, bytes);
    default:
      LOG(FATAL) << "a constant of " << DataTypeName(type);
  }
}

}  // namespace

onnx::AttributeProto IntAttribute(absl::string_view name, int64_t value) {
  onnx::AttributeProto attribute;
  attribute.set_name(std::string(name));
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

onnx::AttributeProto IntsAttribute(absl::string_view name,
                                   absl::Span<const int64_t> values) {
  onnx::AttributeProto attribute;
  attribute.set_name(std::string(name));
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
  return attribute;
}

onnx::TensorProto::DataType OnnxTypeOf(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return onnx::TensorProto::UINT8;
    case DataType::kInt32:
      return onnx::TensorProto::INT32;
    case DataType::kFloat32:
      return onnx::TensorProto::FLOAT;
    case DataType::kFloat64:
      return onnx::TensorProto::DOUBLE;
    case DataType::kFloat16:
      return onnx::TensorProto::FLOAT16;
    case DataType::kBFloat16:
      return onnx::TensorProto::BFLOAT16;
    case DataType::kBool:
      return onnx::TensorProto::BOOL;
  }
  LOG(FATAL) << static_cast<int>(type);
}

onnx::ValueInfoProto ValueInfo(const std::string& name, DataType type,
                               const SymbolicShape& shape) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  onnx::TypeProto::Tensor& tensor =
      *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxTypeOf(type));
  onnx::TensorShapeProto& sizes = *tensor.mutable_shape();
  for (const SymbolicDimension& dimension : shape) {
    onnx::TensorShapeProto::Dimension& size = *sizes.add_dim();
    if (!dimension.is_batch) {
      size.set_dim_value(dimension.size);
    } else if (dimension.size == 1) {
      size.set_dim_param("batch");
    }
  }
  return value;
}

Shape OnnxVariable::permuted_shape() const {
  if (permutation.empty()) return shape;
  Shape permuted;
  for (const int64_t axis : permutation) permuted.push_back(shape[axis]);
  return permuted;
}

std::string OnnxGraph::UniqueName(absl::string_view wish) {
  std::string name(wish);
  int& next = root_.next_suffixes_[name];
  while (!root_.names_.insert(name).second) {
    name = absl::StrCat(wish, "_", ++next);
  }
  return name;
}

std::string OnnxGraph::NodeName(absl::string_view type) const {
  return absl::StrCat(owner_, "/", type);
}

std::string OnnxGraph::Add(absl::string_view type,
                           absl::Span<const std::string> inputs,
                           std::vector<onnx::AttributeProto> attributes) {
  std::string name = UniqueName(NodeName(type));
  onnx::NodeProto& node = AddNode(type, inputs, {name});
  for (onnx::AttributeProto& attribute : attributes) {
    *node.add_attribute() = std::move(attribute);
  }
  return name;
}

onnx::NodeProto& OnnxGraph::AddNode(absl::string_view type,
                                    absl::Span<const std::string> inputs,
                                    absl::Span<const std::string> outputs) {
  onnx::NodeProto& node = *proto_.add_node();
  node.set_name(outputs[0]);
  node.set_op_type(std::string(type));
  for (const std::string& input : inputs) {
    node.add_input(input);
    root_.read_.insert(input);
  }
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

std::map<std::string, OnnxVariable> OnnxGraph::ReadVariables() const {
  std::map<std::string, OnnxVariable> read;
  for (const auto& [name, variable] : root_.variables_) {
    if (root_.read_.contains(name)) read[name] = variable;
  }
  return read;
}

const OnnxVariable* OnnxGraph::VariableInOrder(const std::string& value) const {
  const auto found = root_.variables_.find(value);
  return found != root_.variables_.end() && found->second.permutation.empty()
             ? &found->second
             : nullptr;
}

std::string OnnxGraph::Derived(const std::string& from, absl::string_view type,
                               OnnxVariable variable) {
  for (const auto& [name, other] : root_.variables_) {
    if (other == variable) return name;
  }
  std::string name = UniqueName(absl::StrCat(from, "/", type));
  AddVariable(name, std::move(variable));
  return name;
}

std::string OnnxGraph::Transpose(const std::string& value,
                                 absl::Span<const int64_t> permutation) {
  if (const OnnxVariable* variable = VariableInOrder(value)) {
    return Derived(value, "Transpose",
                   {variable->variable,
                    variable->shape,
                    {permutation.begin(), permutation.end()}});
  }
  return Add("Transpose", {value}, {IntsAttribute("perm", permutation)});
}

std::string OnnxGraph::Reshape(const std::string& value,
                               absl::Span<const int64_t> sizes) {
  if (const OnnxVariable* variable = VariableInOrder(value)) {
    return Derived(value, "Reshape",
                   {variable->variable, {sizes.begin(), sizes.end()}, {}});
  }
  return Add("Reshape", {value, Integers(sizes)});
}

absl::Status OnnxGraph::ReserveConstants(int64_t tables, const Shape& shape) {
  const int64_t left = kMaxConstantElements - root_.reserved_elements_;
  const int64_t elements = NumElements(shape);
  if (elements > left / tables) {
    return absl::ResourceExhaustedError(absl::StrCat(
        tables, tables == 1 ? " constant" : " constants", " of shape ",
        ShapeToString(shape), " beside ", root_.reserved_elements_,
        " elements of others; all constants of an ONNX file have at most ",
        kMaxConstantElements, " elements"));
  }
  root_.reserved_elements_ += tables * elements;
  return absl::OkStatus();
}

std::string OnnxGraph::AddConstant(onnx::TensorProto tensor) {
  std::string& name = root_.constants_[tensor.SerializeAsString()];
  if (name.empty()) {
    name = UniqueName("constant");
    tensor.set_name(name);
    *root_.proto_.add_initializer() = std::move(tensor);
  }
  return name;
}

std::string OnnxGraph::Numbers(DataType type, const Shape& shape,
                               absl::Span<const double> values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(OnnxTypeOf(type));
  for (const int64_t size : shape) tensor.add_dims(size);
  for (const double value : values) {
    AppendRaw(type, value, *tensor.mutable_raw_data());
  }
  return AddConstant(std::move(tensor));
}

std::string OnnxGraph::Integers(absl::Span<const int64_t> values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) {
    AppendRaw(value, *tensor.mutable_raw_data());
  }
  return AddConstant(std::move(tensor));
}

std::string OnnxGraph::BatchSize() {
  CHECK_EQ(this, &root_);
  if (batch_size_.empty()) {
    const std::string sizes = Add("Shape", {batch_of_});
    batch_size_ = Add("Slice", {sizes, Integers({0}), Integers({1})});
  }
  return batch_size_;
}

std::string OnnxGraph::SizesOf(const SymbolicShape& shape) {
  std::vector<int64_t> numbers;
  std::vector<std::string> parts;
  const auto finish_numbers = [&] {
    if (!numbers.empty()) parts.push_back(Integers(numbers));
    numbers.clear();
  };
  for (const SymbolicDimension& dimension : shape) {
    if (!dimension.is_batch) {
      numbers.push_back(dimension.size);
      continue;
    }
    finish_numbers();
    const std::string batch = root_.BatchSize();
    parts.push_back(dimension.size == 1
                        ? batch
                        : Add("Mul", {batch, Integers({dimension.size})}));
  }
  if (parts.empty()) return Integers(numbers);
  finish_numbers();
  return parts.size() == 1 ? parts[0]
                           : Add("Concat", parts, {IntAttribute("axis", 0)});
}

}  // namespace paceline
