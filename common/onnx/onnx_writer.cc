#include "common/onnx/onnx_writer.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/status_macros.h"
#include "common/onnx/onnx_model.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace paceline {
namespace {

using google::protobuf::internal::WireFormatLite;

// Elements that are read at a time.
constexpr int64_t kBufferElements = (1 << 20) / sizeof(float);
// Of a message of protobuf.
constexpr size_t kMaxFileBytes = std::numeric_limits<int32_t>::max();

// What precedes a field of `size` bytes in its message.
std::string FieldStart(int field, size_t size) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(WireFormatLite::MakeTag(
        field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
    out.WriteVarint64(size);
  }
  return bytes;
}

// The elements of a variable, with its axes permuted.
std::vector<float> Permuted(const OnnxVariable& stored,
                            absl::Span<const float> values) {
  const size_t rank = stored.shape.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t axis = rank - 1; axis-- > 0;) {
    strides[axis] = strides[axis + 1] * stored.shape[axis + 1];
  }
  const Shape shape = stored.permuted_shape();
  std::vector<float> permuted;
  permuted.reserve(values.size());
  std::vector<int64_t> index(rank);
  for (int64_t from = 0; permuted.size() < values.size();) {
    permuted.push_back(values[from]);
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t stride = strides[stored.permutation[axis]];
      from += stride;
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
      from -= stride * shape[axis];
    }
  }
  return permuted;
}

// An initializer in the file: all that precedes its elements, and these.
struct TensorField {
  const VariableSpec* variable = nullptr;
  const OnnxVariable* stored = nullptr;
  std::string start;

  int64_t elements() const { return NumElements(stored->shape); }
  size_t size_bytes() const {
    return start.size() + elements() * sizeof(float);
  }
};

TensorField MakeTensorField(const std::string& name, const OnnxVariable& stored,
                            const VariableSpec& variable) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : stored.permuted_shape()) tensor.add_dims(size);
  TensorField field = {&variable, &stored, ""};
  const size_t raw_bytes = field.elements() * sizeof(float);
  field.start = absl::StrCat(
      tensor.SerializeAsString(),
      FieldStart(onnx::TensorProto::kRawDataFieldNumber, raw_bytes));
  field.start.insert(0, FieldStart(onnx::GraphProto::kInitializerFieldNumber,
                                   field.start.size() + raw_bytes));
  return field;
}

absl::Status AppendFloats(absl::Span<const float> values, AtomicFile& file) {
  return file.Append({reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(float)});
}

absl::Status Append(const TensorField& field, const VariableReader& read,
                    AtomicFile& file) {
  RETURN_IF_ERROR(file.Append(field.start));
  const bool is_permuted = !field.stored->permutation.empty();
  const int64_t at_once = is_permuted ? field.elements() : kBufferElements;
  std::vector<float> buffer;
  for (int64_t begin = 0; begin < field.elements(); begin += at_once) {
    buffer.resize(std::min(at_once, field.elements() - begin));
    RETURN_IF_ERROR(read(field.variable->name, begin, absl::MakeSpan(buffer)));
    if (is_permuted) buffer = Permuted(*field.stored, buffer);
    RETURN_IF_ERROR(AppendFloats(buffer, file));
  }
  return absl::OkStatus();
}

absl::Status TooLarge(const std::string& path, size_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, " would have ", bytes,
                   " bytes; a file of ONNX has at most ", kMaxFileBytes));
}

}  // namespace

absl::Status WriteOnnx(const std::string& path, const Graph& graph,
                       const VariableReader& read) {
  ASSIGN_OR_RETURN(OnnxModel model, MakeOnnxModel(graph));
  std::vector<TensorField> fields;
  // Fields may stand in any order, so the variables are the graph's last.
  const size_t node_bytes = model.proto.graph().ByteSizeLong();
  if (node_bytes > kMaxFileBytes) return TooLarge(path, node_bytes);
  const std::string nodes = model.proto.graph().SerializeAsString();
  model.proto.clear_graph();
  size_t graph_bytes = nodes.size();
  for (const auto& [name, stored] : model.variables) {
    fields.push_back(
        MakeTensorField(name, stored, graph.variables[stored.variable]));
    graph_bytes += fields.back().size_bytes();
  }
  const std::string start = absl::StrCat(
      model.proto.SerializeAsString(),
      FieldStart(onnx::ModelProto::kGraphFieldNumber, graph_bytes));
  if (start.size() + graph_bytes > kMaxFileBytes) {
    return TooLarge(path, start.size() + graph_bytes);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  RETURN_IF_ERROR(file->Append(start));
  RETURN_IF_ERROR(file->Append(nodes));
  for (const TensorField& field : fields) {
    RETURN_IF_ERROR(Append(field, read, *file));
  }
  return file->Commit();
}

}  // namespace paceline
