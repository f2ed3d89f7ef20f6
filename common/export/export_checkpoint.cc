#include "common/export/export_checkpoint.h"

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_reader.h"
#include "common/checkpoint/trained_job.h"
#include "common/export/variables_file.h"
#include "common/job/job_model.h"
#include "common/keras/legacy_writer.h"
#include "common/keras/model_writer.h"
#include "common/onnx/onnx_writer.h"
#include "common/optimizer/moving_average.h"
#include "glog/logging.h"

namespace paceline {
namespace {

struct Format {
  absl::string_view name;
  absl::string_view suffix;
  absl::Status (*write)(const std::string& path, const TrainedModel& model);
};

// Of variables, without slots.
VariableReader VariablesOf(const TrainedModel& model) {
  return [&model](absl::string_view variable, int64_t begin,
                  absl::Span<float> out) {
    return model.read(variable, /*slot=*/"", begin, out);
  };
}

absl::Status WriteVariables(const std::string& path,
                            const TrainedModel& model) {
  return WriteVariablesFile(path, model.graph, model.iterations,
                            VariablesOf(model));
}

absl::Status WriteOnnxModel(const std::string& path,
                            const TrainedModel& model) {
  return WriteOnnx(path, model.graph, VariablesOf(model));
}

// A suffix comes before one that it ends with.
constexpr Format kFormats[] = {{"keras", ".keras", WriteKerasModel},
                               {"weights", ".weights.h5", WriteKerasWeights},
                               {"h5", ".h5", WriteLegacyModel},
                               {"safetensors", ".safetensors", WriteVariables},
                               {"onnx", ".onnx", WriteOnnxModel}};

const Format& FormatNamed(absl::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
  }
  LOG(FATAL) << "there is no format " << name;
}

// The names of the trained variables.
std::set<absl::string_view> TrainedVariables(const Graph& graph) {
  std::set<absl::string_view> names;
  for (const VariableSpec& variable : graph.variables) {
    if (variable.is_trained()) names.insert(variable.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> ExportFormats() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string ExportSuffix(absl::string_view format) {
  return std::string(FormatNamed(format).suffix);
}

std::string ExportFormatOf(absl::string_view path) {
  for (const Format& format : kFormats) {
    if (absl::EndsWith(path, format.suffix)) return std::string(format.name);
  }
  return std::string(kFormats[0].name);
}

absl::Status CheckExportPath(absl::string_view format,
                             const std::string& path) {
  const std::string suffix = ExportSuffix(format);
  for (const Format& known : kFormats) {
    if (!absl::EndsWith(path, known.suffix)) continue;
    if (known.name == format) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no name of a file of the format ", format,
                     "; expected the suffix ", suffix));
  }
  return absl::OkStatus();
}

absl::Status ExportCheckpoint(const std::string& folder,
                              absl::string_view format, const std::string& path,
                              ExportedValues values) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                   CheckpointReader::Open(folder));
  ASSIGN_OR_RETURN(const v1::Job job, TrainedJobOf(folder, reader->manifest()));
  const absl::StatusOr<JobModel> model = MakeJobModel(job);
  if (!model.ok()) return Annotate(model.status(), folder);
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, model->graph));
  RETURN_IF_ERROR(
      reader->CheckFits(model->graph.variables, optimizer->slot_names()));
  const int64_t iterations =
      optimizer->initial_iterations + reader->manifest().step;
  std::set<absl::string_view> averaged;
  if (values != ExportedValues::kStored && optimizer->use_ema &&
      iterations > 0) {
    averaged = TrainedVariables(model->graph);
  }
  return FormatNamed(format).write(
      path, {job, model->graph, *optimizer, iterations,
             [&](absl::string_view variable, absl::string_view slot,
                 int64_t begin, absl::Span<float> out) {
               if (averaged.count(variable) > 0 && slot.empty()) {
                 slot = kAverageSlot;
               } else if (averaged.count(variable) > 0 &&
                          slot == kAverageSlot &&
                          values == ExportedValues::kSwapped) {
                 slot = "";
               }
               return reader->Read(variable, slot, begin, out);
             }});
}

}  // namespace paceline
