#!/bin/sh
# Runs the compiler command that follows. If it makes a precompiled header, removes the old one first:
# ccache preprocesses the header, gcc would find its old precompiled form and read that instead, and
# ccache would take the outdated result out of its store.
previous=
for argument in "$@"; do
  case $previous$argument in
    -o*.gch) rm -f "$argument" ;;
  esac
  previous=$argument
done
exec "$@"
