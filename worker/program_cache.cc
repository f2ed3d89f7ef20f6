#include "worker/program_cache.h"

#include "common/base/status_macros.h"

namespace paceline {

absl::StatusOr<Program*> ProgramCache::Get(Mode mode, int64_t batch_size) {
  std::unique_ptr<Program>& program = programs_[{mode, batch_size}];
  if (program == nullptr) {
    ProgramSpec spec = spec_;
    spec.mode = mode;
    spec.batch_size = batch_size;
    ASSIGN_OR_RETURN(program, device_.Compile(spec, state_));
  }
  return program.get();
}

}  // namespace paceline
