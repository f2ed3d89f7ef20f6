#include "common/job/inner_model_files.h"

#include "common/model/nested_model.h"
#include "google/protobuf/struct.pb.h"

namespace paceline {
namespace {

using google::protobuf::Struct;

// A map in a map; null if there is none.
Struct* FindMap(Struct& map, const char* key) {
  const auto found = map.mutable_fields()->find(key);
  return found != map.mutable_fields()->end() &&
                 found->second.has_struct_value()
             ? found->second.mutable_struct_value()
             : nullptr;
}

// The config of a Model in one of the forms of keras_object.h; null if `layer`
// is another.
Struct* ConfigOfModel(Struct& layer) {
  const auto name = layer.fields().find("class_name");
  if (name == layer.fields().end()) {
    return FindMap(layer, NestedModel::kClassName);
  }
  return name->second.string_value() == NestedModel::kClassName
             ? FindMap(layer, "config")
             : nullptr;
}

void VisitConfig(Struct& config, const Path& path, FileVisitor visit) {
  auto& fields = *config.mutable_fields();
  if (const auto file = fields.find("path");
      file != fields.end() && !file->second.string_value().empty()) {
    visit(path.Key("path"), *file->second.mutable_string_value());
  }
  const auto layers = fields.find("layers");
  if (layers == fields.end() || !layers->second.has_list_value()) return;
  auto& list = *layers->second.mutable_list_value();
  for (int i = 0; i < list.values_size(); ++i) {
    if (!list.values(i).has_struct_value()) continue;
    Struct* const inner =
        ConfigOfModel(*list.mutable_values(i)->mutable_struct_value());
    if (inner == nullptr) continue;
    VisitConfig(*inner, path.Key("layers").Index(i), visit);
  }
}

}  // namespace

void VisitInnerModelFiles(v1::KerasObject& layer, const Path& path,
                          FileVisitor visit) {
  if (layer.class_name() != NestedModel::kClassName) return;
  VisitConfig(*layer.mutable_config(), path, visit);
}

}  // namespace paceline
