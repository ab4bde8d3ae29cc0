package owner

import "golang.org/x/sys/unix"

const readOnlyFlag = unix.ST_RDONLY
