// The field tables of a job, which define what a job file may contain.
#ifndef PACELINE_COMMON_JOB_JOB_FIELDS_H_
#define PACELINE_COMMON_JOB_JOB_FIELDS_H_

#include <string>
#include <vector>

#include "common/config/field_table.h"
#include "paceline/v1/job.pb.h"

namespace paceline::v1 {

// The codecs in message_fields.h and codec.h find these by argument-dependent
// lookup.
const FieldTable<ClusterSize>& FieldsOf(const ClusterSize*);
const FieldTable<Model>& FieldsOf(const Model*);
const FieldTable<Dataset>& FieldsOf(const Dataset*);
const FieldTable<Data>& FieldsOf(const Data*);
const FieldTable<CheckpointPolicy>& FieldsOf(const CheckpointPolicy*);
const FieldTable<Partitioner>& FieldsOf(const Partitioner*);
const FieldTable<Job>& FieldsOf(const Job*);
absl::Span<const EnumName<AutoShardPolicy>> EnumNames(AutoShardPolicy);
absl::Span<const EnumName<Consistency>> EnumNames(Consistency);
absl::Span<const EnumName<Precision>> EnumNames(Precision);

}  // namespace paceline::v1

namespace paceline {

// The job as the content of a job file, including defaults, but not the
// `checkpoint` that comes of its BackupAndRestore (backup.h).
Value WriteJob(const v1::Job& job);

// The references of the job and of the maps in it, the job first.
std::vector<ClassReference> JobReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_FIELDS_H_
