// The fields of a job that are arguments of Keras' fit: with which epoch it
// begins, when it validates, and what it shows.
#ifndef PACELINE_COMMON_JOB_FIT_FIELDS_H_
#define PACELINE_COMMON_JOB_FIT_FIELDS_H_

#include "common/config/field_table.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

Field<v1::Job> InitialEpochField();
Field<v1::Job> ValidationFreqField();
Field<v1::Job> ValidationStepsField();
Field<v1::Job> VerboseField();
Field<v1::Job> ProgressField();

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_FIT_FIELDS_H_
