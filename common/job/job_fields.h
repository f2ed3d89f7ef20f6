// The field tables of a job: what a job file can say.
#ifndef PACELINE_COMMON_JOB_JOB_FIELDS_H_
#define PACELINE_COMMON_JOB_JOB_FIELDS_H_

#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "paceline/v1/job.pb.h"

namespace paceline::v1 {

// Found by the codecs of message_fields.h and codec.h.
const FieldTable<ClusterSize>& FieldsOf(const ClusterSize*);
const FieldTable<Model>& FieldsOf(const Model*);
const FieldTable<Dataset>& FieldsOf(const Dataset*);
const FieldTable<Data>& FieldsOf(const Data*);
const FieldTable<CheckpointPolicy>& FieldsOf(const CheckpointPolicy*);
const FieldTable<Partitioner>& FieldsOf(const Partitioner*);
const FieldTable<Job>& FieldsOf(const Job*);
absl::Span<const EnumName<Consistency>> EnumNames(Consistency);
absl::Span<const EnumName<Precision>> EnumNames(Precision);

}  // namespace paceline::v1

namespace paceline {

// The job as a job file says it, with its defaults.
Value WriteJob(const v1::Job& job);

// The job and the maps in it, the job first.
std::vector<ClassReference> JobReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_FIELDS_H_
