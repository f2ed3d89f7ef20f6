// Phases of a job: parts of the training one after the other, as several
// `compile` and `fit` of Keras.
#ifndef PACELINE_COMMON_JOB_JOB_PHASES_H_
#define PACELINE_COMMON_JOB_JOB_PHASES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/field_table.h"
#include "common/config/value.h"
#include "paceline/v1/job.pb.h"

namespace paceline::v1 {

const FieldTable<TrainingPhase>& FieldsOf(const TrainingPhase*);

}  // namespace paceline::v1

namespace paceline {

// `phases` of a job file.
Field<v1::Job> PhasesField();

// Names the phases that have no name "phase-1", "phase-2", and so on.
void NamePhases(v1::Job& job);

// Whether the phase has callbacks in the place of the job's, or none.
bool HasOwnCallbacks(const v1::TrainingPhase& phase);

// The job, without phases, that phase `index` of `job` is: with its trainable
// layers, optimizer, epochs and callbacks. The optimizer begins anew.
//
// A phase takes the variables of the one before, so all but the first are
// without `weights`. All but the last are without `data.test`, and take a
// checkpoint at their end at least.
//
// InvalidArgument names a layer that the model does not have. A pure function
// of the job, whose model must be valid.
absl::StatusOr<v1::Job> JobOfPhase(const v1::Job& job, int index);

// InvalidArgument, with the field, its value and what is expected, unless the
// phases are valid, and so is the job of each.
absl::Status CheckPhases(const v1::Job& job);

// The fields of a job that each phase has for itself.
inline constexpr absl::string_view kFieldsOfPhases[] = {"epochs",
                                                        "initial_epoch"};

// Of the document of a job with phases, erases those of these that are null, as
// `--set epochs=null` makes them. InvalidArgument if it has another value for
// one, whatever the value is.
absl::Status LeaveFieldsToPhases(Value& document);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_PHASES_H_
