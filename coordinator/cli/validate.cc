#include "coordinator/cli/validate.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/cluster/role.h"
#include "common/cluster/tf_config.h"
#include "common/config/json_value.h"
#include "common/job/job_checks.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/job/model_file.h"
#include "common/keras/name_match.h"
#include "common/model/graph.h"
#include "common/model/objective.h"
#include "common/strategy/strategy_traits.h"
#include "common/tensor/shape.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::ordered_json;

// What TF_CONFIG means for a job.
struct Place {
  TfConfig config;
  Role role;
};

absl::StatusOr<Place> FindPlace(const std::string& tf_config,
                                const v1::Job& job) {
  Place place;
  ASSIGN_OR_RETURN(place.config, ParseTfConfig(tf_config));
  ASSIGN_OR_RETURN(place.role, ResolveRole(place.config, StrategyOf(job)));
  return place;
}

int64_t ParameterCount(const Graph& graph) {
  int64_t count = 0;
  for (const VariableSpec& variable : graph.variables) {
    count += NumElements(variable.shape);
  }
  return count;
}

ordered_json Nullable(std::optional<int> number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

ordered_json ClusterToJson(const ClusterSpec& cluster) {
  auto json = ordered_json::object();
  for (const auto& [type, tasks] : cluster.tasks) {
    for (const auto& [index, address] : tasks) {
      json[TaskTypeName(type)][absl::StrCat(index)] = address;
    }
  }
  return json;
}

ordered_json ToJson(const v1::Job& job, const Graph& graph,
                    const std::optional<Place>& place) {
  ordered_json json = {{"name", job.name()},
                       {"strategy", StrategyOf(job).name},
                       {"parameters", ParameterCount(graph)},
                       {"job", ToJson(WriteJob(job))}};
  if (place) {
    const TaskId task = place->config.task;
    json["cluster"] = ClusterToJson(place->config.cluster);
    json["task"] = {{"type", TaskTypeName(task.type)}, {"index", task.index}};
    json["is_chief"] = place->role.leads;
    json["is_ps_coordinator"] = place->role.is_ps_coordinator;
    json["rank"] = Nullable(place->role.rank);
    json["world_size"] = Nullable(place->role.world_size);
  }
  return json;
}

void PrintLine(absl::string_view name, absl::string_view text,
               std::ostream& out) {
  out << absl::StreamFormat("%-11s %s\n", name, text);
}

// The field that names the file: "train" for data.train.idx.features.
absl::string_view PurposeOf(const JobFile& file) {
  const absl::string_view field = absl::StripPrefix(file.field.text(), "data.");
  return field.substr(0, field.find('.'));
}

void PrintFiles(const v1::Job& job, std::ostream& out) {
  absl::string_view last;
  const std::vector<JobFile> files = FilesOf(job);
  for (const JobFile& file : files) {
    const absl::string_view purpose = PurposeOf(file);
    const v1::AutoShardPolicy policy = job.data().train().auto_shard_policy();
    if (purpose == "train" && purpose != last &&
        policy != v1::AUTO_SHARD_POLICY_UNSPECIFIED) {
      PrintLine(
          purpose,
          absl::StrCat("auto_shard_policy: ",
                       Codec<v1::AutoShardPolicy>::Write(policy).as_string()),
          out);
      last = purpose;
    }
    PrintLine(purpose == last ? "" : purpose,
              IsRemote(file.path) ? ShownUrl(file.path) : file.path, out);
    last = purpose;
  }
}

std::string InputShapes(const Graph& graph) {
  std::vector<std::string> shapes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    shapes.push_back(ShapeToString(graph.input_shape(i)));
  }
  return absl::StrJoin(shapes, ", ");
}

std::string OutputShapes(const Graph& graph) {
  std::vector<std::string> shapes;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    shapes.push_back(ShapeToString(graph.output_shape(i)));
  }
  return absl::StrJoin(shapes, ", ");
}

void PrintJob(const v1::Job& job, const Graph& graph, std::ostream& out) {
  const auto class_name = [](std::string* text, const v1::KerasObject& object) {
    text->append(object.class_name());
  };
  PrintLine("job", job.name(), out);
  PrintLine("strategy", StrategyOf(job).name, out);
  PrintLine("cluster",
            absl::StrCat(job.cluster().ps(), " ps, ", job.cluster().worker(),
                         " worker"),
            out);
  PrintLine("model",
            absl::StrCat(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                       [](const Node& node) {
                                         return !node.layer->is_mask() &&
                                                !node.layer->is_penalty();
                                       }),
                         " layers, ", ParameterCount(graph), " parameters, ",
                         InputShapes(graph), " -> ", OutputShapes(graph)),
            out);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string of_output =
        graph.outputs.size() == 1 ? ""
                                  : absl::StrCat(graph.output_name(i), ": ");
    const v1::KerasObject* const loss = LossOf(job, graph, i);
    PrintLine(
        "loss",
        absl::StrCat(of_output, loss == nullptr ? "none" : loss->class_name()),
        out);
    const auto print_metrics = [&](const char* key,
                                   const MetricObjects& metrics) {
      PrintLine(key,
                absl::StrCat(of_output,
                             absl::StrJoin(metrics.objects, ", ", class_name)),
                out);
    };
    print_metrics("metrics", MetricsOf(job, graph, i));
    const MetricObjects weighted = WeightedMetricsOf(job, graph, i);
    if (!weighted.objects.empty()) print_metrics("weighted", weighted);
  }
  PrintLine("optimizer", job.optimizer().class_name(), out);
  PrintFiles(job, out);
  PrintLine("batch",
            job.batch_case() == v1::Job::kGlobalBatchSize
                ? absl::StrCat(job.global_batch_size(), " over all replicas")
                : absl::StrCat(job.batch_size_per_replica(), " per replica"),
            out);
  if (job.phases().empty()) {
    PrintLine("epochs", absl::StrCat(job.epochs()), out);
  }
  for (const v1::TrainingPhase& phase : job.phases()) {
    PrintLine(
        "phase",
        absl::StrCat(phase.name(), ", epochs ", phase.initial_epoch(), " to ",
                     phase.epochs(), ", ",
                     phase.has_optimizer() ? phase.optimizer().class_name()
                                           : job.optimizer().class_name()),
        out);
  }
  PrintLine(
      "device",
      absl::StrCat(job.device(), ", ",
                   Codec<v1::Precision>::Write(job.precision()).as_string()),
      out);
}

// What matches by name; nullopt unless the job asks for it.
absl::StatusOr<std::optional<NameMatch>> MatchOf(const v1::Job& job,
                                                 const Graph& graph) {
  if (!job.weights_by_name()) return std::nullopt;
  ASSIGN_OR_RETURN(const std::unique_ptr<InitialWeights> weights,
                   OpenWeights(job, graph));
  return *weights->match();
}

ordered_json ToJson(const NameMatch& match) {
  return {{"matched", match.matched},
          {"not_in_file", match.not_in_file},
          {"not_the_same", match.different},
          {"not_in_model", match.not_in_model}};
}

void PrintPlace(const Place& place, std::ostream& out) {
  for (const auto& [type, tasks] : place.config.cluster.tasks) {
    for (const auto& [index, address] : tasks) {
      PrintLine(TaskId{type, index}.ToString(), address, out);
    }
  }
  const Role& role = place.role;
  std::string text = place.config.task.ToString();
  if (role.leads) absl::StrAppend(&text, ", leads");
  if (role.is_ps_coordinator) absl::StrAppend(&text, ", only coordinates");
  if (role.rank) absl::StrAppend(&text, ", rank ", *role.rank);
  if (role.rank && role.world_size) {
    absl::StrAppend(&text, " of ", *role.world_size);
  }
  PrintLine("this task", text, out);
}

}  // namespace

absl::Status Validate(const ValidateOptions& options, std::ostream& out,
                      std::ostream& messages) {
  JobReaderOptions reader;
  reader.check_files = options.tf_config.empty();
  ASSIGN_OR_RETURN(const v1::Job job,
                   ReadJobFile(options.job_path, options.overrides, reader));
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  std::optional<Place> place;
  if (!options.tf_config.empty()) {
    ASSIGN_OR_RETURN(place, FindPlace(options.tf_config, job));
    for (const std::string& note : place->config.notes) {
      messages << "note: " << note << "\n";
    }
    if (place->config.is_dynamic) {
      messages << "note: TF_CONFIG: Kubeflow's dynamic dialect; running under "
                  "it is not supported yet\n";
    }
  }
  // With TF_CONFIG, the file may be on other machines only.
  std::optional<NameMatch> match;
  if (reader.check_files) {
    ASSIGN_OR_RETURN(match, MatchOf(job, model.graph));
  }
  if (options.as_json) {
    ordered_json json = ToJson(job, model.graph, place);
    if (match) json["weights_by_name"] = ToJson(*match);
    out << json.dump(2) << "\n";
    return absl::OkStatus();
  }
  PrintJob(job, model.graph, out);
  if (match) out << NameMatchReport(*match, job.weights()) << "\n";
  if (place) PrintPlace(*place, out);
  return absl::OkStatus();
}

}  // namespace paceline
