// Files by their SHA-256, for daemons and people
// (proto/paceline/v1/service.proto).
#ifndef PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_
#define PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_

#include "common/rpc/rpc_service.h"
#include "coordinator/store/file_store.h"

namespace paceline {

// Thread-safe. `files` must outlive the service.
class FileService : public RpcService {
 public:
  explicit FileService(FileStore& files);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_
