# What `cmake --install` installs, and the Debian packages that `cpack -G DEB`
# makes of it. The programs find each other in their folder, which is not bin:
# Debian has another program of the name `worker`.
set(PROGRAM_FOLDER lib/paceline)
install(TARGETS coordinator ps_server worker DESTINATION ${PROGRAM_FOLDER} COMPONENT paceline)
set_target_properties(coordinator ps_server worker PROPERTIES INSTALL_RPATH "$ORIGIN")
file(CREATE_LINK ../${PROGRAM_FOLDER}/coordinator ${CMAKE_BINARY_DIR}/paceline SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/paceline DESTINATION bin COMPONENT paceline)

# The programs write their manual pages, and the one for people its completions.
set(WRITTEN_FOLDER ${CMAKE_BINARY_DIR}/written)
install(CODE "
  file(MAKE_DIRECTORY \"${WRITTEN_FOLDER}\")
  function(write name)
    execute_process(COMMAND \${ARGN}
      OUTPUT_FILE \"${WRITTEN_FOLDER}/\${name}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  foreach(shell bash fish zsh)
    write(\${shell} \"$<TARGET_FILE:coordinator>\" completion \${shell})
  endforeach()
  function(write_page name program)
    write(\${name} \"\${program}\" man)
    execute_process(COMMAND gzip -9nf \"${WRITTEN_FOLDER}/\${name}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  write_page(paceline.1 \"$<TARGET_FILE:coordinator>\")
  write_page(paceline-ps_server.8 \"$<TARGET_FILE:ps_server>\")
  write_page(paceline-worker.8 \"$<TARGET_FILE:worker>\")"
  COMPONENT paceline)
install(FILES ${WRITTEN_FOLDER}/paceline.1.gz DESTINATION share/man/man1 COMPONENT paceline)
install(FILES ${WRITTEN_FOLDER}/paceline-ps_server.8.gz ${WRITTEN_FOLDER}/paceline-worker.8.gz
  DESTINATION share/man/man8 COMPONENT paceline)
install(FILES ${WRITTEN_FOLDER}/bash DESTINATION share/bash-completion/completions RENAME paceline
  COMPONENT paceline)
install(FILES ${WRITTEN_FOLDER}/fish DESTINATION share/fish/vendor_completions.d RENAME paceline.fish
  COMPONENT paceline)
install(FILES ${WRITTEN_FOLDER}/zsh DESTINATION share/zsh/vendor-completions RENAME _paceline
  COMPONENT paceline)

foreach(name coordinator ps worker)
  install(FILES deploy/systemd/paceline-${name}.service DESTINATION lib/systemd/system COMPONENT paceline)
  install(FILES deploy/systemd/paceline-${name}.default DESTINATION /etc/default RENAME paceline-${name}
    COMPONENT paceline)
endforeach()

set(DOC_FOLDER share/doc/paceline)
install(FILES README.md CHANGELOG.md docs/reference.md deploy/debian/copyright DESTINATION ${DOC_FOLDER}
  COMPONENT paceline)
install(FILES deploy/systemd/README.md DESTINATION ${DOC_FOLDER} RENAME systemd.md COMPONENT paceline)
install(FILES deploy/systemd/tls.conf DESTINATION ${DOC_FOLDER} COMPONENT paceline)
install(DIRECTORY deploy/jobs/ DESTINATION ${DOC_FOLDER}/examples COMPONENT paceline)

set(CPACK_COMPONENTS_ALL paceline)
set(CPACK_PACKAGE_NAME paceline)
set(CPACK_PACKAGE_VENDOR "The authors of Paceline")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Distributed training of Keras-style models")
set(CPACK_STRIP_FILES ON)
# For files of /etc.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The authors of Paceline <paceline@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACELINE_PACKAGE_NAME paceline)
set(CPACK_DEBIAN_PACELINE_PACKAGE_SHLIBDEPS ON)
# By which the servers of data are checked.
set(CPACK_DEBIAN_PACELINE_PACKAGE_DEPENDS ca-certificates)
set(CPACK_DEBIAN_PACELINE_DESCRIPTION
  "A coordinator, and daemons for workers and parameter servers, with systemd units.\nNothing is started before it has an address and a secret.")
set(CPACK_DEBIAN_PACELINE_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles
  ${CMAKE_SOURCE_DIR}/deploy/debian/postinst
  ${CMAKE_SOURCE_DIR}/deploy/debian/prerm
  ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)

# NVIDIA's libraries are in no package of Debian's for dpkg-shlibdeps to name.
if(PACELINE_CUDA)
  install(TARGETS paceline_cuda DESTINATION ${PROGRAM_FOLDER} COMPONENT cuda)
  set_target_properties(paceline_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME paceline-cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "paceline (= ${PACELINE_VERSION})")
  set(CPACK_DEBIAN_CUDA_DESCRIPTION
    "The plug-in for NVIDIA GPUs.\nNeeds CUDA ${CUDAToolkit_VERSION_MAJOR}'s runtime, cuBLAS and cuDNN 9 from NVIDIA's packages, and a driver;\nNCCL for groups of GPUs.")
endif()
include(CPack)
