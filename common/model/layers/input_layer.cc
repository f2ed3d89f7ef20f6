#include "common/model/layers/input_layer.h"

#include <utility>

#include "absl/status/status.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {
namespace {

// Keras writes the shape with a batch axis: null, or, for a model that was
// built by its first batch, the size of that, which says nothing about others.
Field<InputLayer> BatchShapeField() {
  FieldInfo info{.key = "batch_shape",
                 .type = "list of integers, the first of which may be null",
                 .expectation = "",
                 .help =
                     "Instead of `shape`: with the batch, whose size is "
                     "ignored."};
  auto read = [](const Value& value, const Path& path, InputLayer& layer) {
    if (!value.is_list() || value.as_list().empty()) {
      return WrongType(value, path,
                       "list of integers, the first of which may be null");
    }
    const Value::List& list = value.as_list();
    if (!list[0].is_null()) {
      int64_t batch_size = 0;
      RETURN_IF_ERROR(Codec<int64_t>::Read(list[0], path.Index(0), batch_size));
    }
    layer.shape.clear();
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].is_null()) {
        return ConfigError(path.Index(i),
                           "inputs of any size (null) are not supported yet; "
                           "expected the size, such as the number of steps to "
                           "which sequences are padded: Input((100,))",
                           absl::StatusCode::kUnimplemented);
      }
      RETURN_IF_ERROR(Codec<int64_t>::Read(list[i], path.Index(i),
                                           layer.shape.emplace_back()));
    }
    return absl::OkStatus();
  };
  auto write = [](const InputLayer& layer) -> std::optional<Value> {
    Value::List list = {nullptr};
    for (const int64_t dimension : layer.shape) list.push_back(dimension);
    return list;
  };
  return Field<InputLayer>(std::move(info), read, write);
}

// Ids have the same values as float32, and of masks it matters only what is 0.
FixedField InputDtypeField() {
  FixedField field = DtypeField();
  field.info.type = "\"float32\", \"int32\", \"int64\" or \"bool\"";
  field.info.help = "Type of the numbers; computed as float32.";
  field.read = [read = std::move(field.read)](const Value& value,
                                              const Path& path) {
    return value == Value("int32") || value == Value("int64") ||
                   value == Value("bool")
               ? absl::OkStatus()
               : read(value, path);
  };
  return field;
}

}  // namespace

const FieldTable<InputLayer>& InputLayer::Fields() {
  static const auto& table = *new FieldTable<InputLayer>(
      kClassName, "The input of a model.",
      {NotWritten<InputLayer>(Optional(
           "shape", &InputLayer::shape, AtLeast(1),
           "Of one example, without the batch. Required, or `batch_shape`.")),
       BatchShapeField(), InputDtypeField(),
       Only("sparse", false, "Whether it is sparse."),
       NotWritten(Only("ragged", false, "Whether it is ragged.")),
       Optional("name", &Layer::name, "Unique in the model."),
       NotWritten(Only("optional", false, "Whether it may be missing.")),
       NotWritten<InputLayer>(
           Optional("trainable", &Layer::trainable, "Means nothing here."))});
  return table;
}

absl::StatusOr<Shape> InputLayer::OutputShape(
    absl::Span<const Shape> /*inputs*/) const {
  if (shape.empty()) {
    return absl::InvalidArgumentError(
        "shape: missing; expected the shape of one example, such as [28, 28, "
        "1]");
  }
  return shape;
}

LoweredLayer InputLayer::Lower(const LayerCall& call) const {
  return call.inputs[0];
}

}  // namespace paceline
