#include "common/model/nested_model.h"

namespace paceline {
namespace {

// A layer with the names of those that it reads.
struct LayerEntry {
  KerasObject object;
};

absl::Status ReadConfig(const Value& value, const Path& path, LayerEntry& out) {
  ASSIGN_OR_RETURN(out.object, ReadLayerObject(value, path));
  return absl::OkStatus();
}

Value WriteConfig(const LayerEntry& entry) {
  return WriteKerasObject(entry.object);
}

std::string ConfigType(const LayerEntry* /*entry*/) { return "layer"; }

Accessors<NestedModel, std::vector<LayerEntry>> Layers() {
  return {[](const NestedModel& model) {
            std::vector<LayerEntry> entries;
            for (const KerasObject& each : model.layers) {
              entries.push_back({each});
            }
            return entries;
          },
          [](NestedModel& model, std::vector<LayerEntry> entries) {
            model.layers.clear();
            for (LayerEntry& each : entries) {
              model.layers.push_back(std::move(each.object));
            }
          }};
}

}  // namespace

const FieldTable<NestedModel>& NestedModel::Fields() {
  static const auto& table = *new FieldTable<NestedModel>(
      kClassName,
      "A model as a layer of a model; Keras' Functional or Sequential.",
      {Optional("name", &NestedModel::name, "Unique in the outer model."),
       Optional("trainable", &NestedModel::trainable,
                "Whether training changes its variables."),
       Optional("path", &NestedModel::path,
                "A `.keras` file with its layers and their initial values."),
       Required("layers", Layers(),
                "As in `model`; by default those of the file. It reads as many "
                "layers as it has Inputs."),
       Optional("outputs", &NestedModel::outputs,
                "The layers whose outputs are the model's; by default the "
                "last. Where a model `m` has several, a layer reads them as "
                "`m:0`, `m:1`.")});
  return table;
}

}  // namespace paceline
