// Keras files, and the models in them.
#ifndef PACELINE_TESTS_UNIT_KERAS_KERAS_FIXTURE_H_
#define PACELINE_TESTS_UNIT_KERAS_KERAS_FIXTURE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/json_reader.h"
#include "common/job/job_fields.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/keras/model_config.h"
#include "common/model/build_graph.h"
#include "gtest/gtest.h"

namespace paceline {

// What fixtures/make_models.py made: "sequential.keras".
inline std::string KerasFixture(const std::string& name) {
  return absl::StrCat(PACELINE_SOURCE_DIR, "/tests/unit/keras/fixtures/", name);
}

// A job file that trains the model in a Keras file, with more lines.
inline std::string JobText(const std::string& path,
                           const std::string& more = "") {
  return absl::StrCat("strategy: mirrored\nmodel: ", path,
                      "\ndata: {train: {npz: {file: x.npz, features: x, "
                      "labels: y}}}\nbatch_size_per_replica: 2\n",
                      more);
}

inline absl::StatusOr<v1::Job> JobOf(const std::string& path,
                                     const std::string& more = "") {
  return ReadJob(JobText(path, more), "/jobs/job.yaml", {},
                 {.check_files = false});
}

// The graph of a config as Keras writes it.
inline absl::StatusOr<Graph> GraphOfConfig(const std::string& json) {
  ASSIGN_OR_RETURN(const Value value, ReadJson(json, "config.json", 1 << 20));
  ASSIGN_OR_RETURN(const ModelConfig config, ReadModelConfig(value, Path()));
  ASSIGN_OR_RETURN(const v1::Model model,
                   FieldsOf(static_cast<const v1::Model*>(nullptr))
                       .Read(config.model, Path("model")));
  return BuildGraph(model);
}

// A ReLU layer in the config of a Functional model; `input` names the layer
// that it reads.
inline std::string ReluConfig(const std::string& name,
                              const std::string& input) {
  return absl::StrCat(
      R"({"class_name": "ReLU", "config": {}, "name": ")", name,
      R"(", "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__",
      "config": {"keras_history": [")",
      input, R"(", 0, 0]}}], "kwargs": {}}]})");
}

// A Functional model with an Input "in", as Keras writes it.
inline std::string FunctionalConfig(const std::string& layers,
                                    const std::string& output) {
  return absl::StrCat(
      R"({"class_name": "Functional", "config": {"name": "f", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 3]},
       "name": "in", "inbound_nodes": []}, )",
      layers, R"(], "input_layers": ["in", 0, 0], "output_layers": [")", output,
      R"(", 0, 0]}})");
}

inline Graph GraphOf(const v1::Job& job) {
  absl::StatusOr<Graph> graph = BuildGraph(job.model());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_KERAS_KERAS_FIXTURE_H_
