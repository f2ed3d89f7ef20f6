// Files by their SHA-256, for daemons and people
// (proto/paceline/v1/service.proto).
#ifndef PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_
#define PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_

#include <cstdint>

#include "common/rpc/rpc_service.h"
#include "coordinator/service/upload_limit.h"
#include "coordinator/store/file_store.h"

namespace paceline {

// Thread-safe. `files` must outlive the service.
class FileService : public RpcService {
 public:
  // `max_upload_rate`: in bytes a second, of each user with a token.
  FileService(FileStore& files, uint64_t max_upload_rate);

 private:
  UploadLimit upload_limit_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_FILE_SERVICE_H_
