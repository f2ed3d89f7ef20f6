// The fields of a job that say what is trained and measured of each output of
// its model: loss, loss_weights, class_weight, metrics and weighted_metrics.
#ifndef PACELINE_COMMON_JOB_OBJECTIVE_FIELDS_H_
#define PACELINE_COMMON_JOB_OBJECTIVE_FIELDS_H_

#include <string>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

template <>
struct Codec<v1::KerasObject> {
  static absl::Status Read(const Value& value, const Path& path,
                           v1::KerasObject& out) {
    ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
    ASSIGN_OR_RETURN(out, ToProto(object, path));
    return absl::OkStatus();
  }
  static Value Write(const v1::KerasObject& m) {
    return WriteKerasObject(FromProto(m));
  }
  static std::string Type() { return "Keras object"; }
};

Field<v1::Job> LossField();
Field<v1::Job> LossWeightsField();
Field<v1::Job> ClassWeightField();
Field<v1::Job> MetricsField();
Field<v1::Job> WeightedMetricsField();

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_OBJECTIVE_FIELDS_H_
