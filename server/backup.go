package server

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// BackupType is the media type of a backup, an SQLite file.
const BackupType = "application/vnd.sqlite3"

// backup sends a copy of the whole store, as of one moment. Others read and write meanwhile.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) error {
	if q := only(r); q.err != nil {
		return q.err
	}
	if !s.backingUp.TryLock() {
		return busy.because("another backup is being made; try again when it has ended").after(5)
	}
	defer s.backingUp.Unlock()
	began := time.Now()
	copied, size, err := s.opts.Store.Backup(r.Context())
	if err != nil {
		return err
	}
	defer copied.Close()
	s.log.Info("backup made", "bytes", size, "took", time.Since(began))
	w.Header().Set("Content-Type", BackupType)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.Header().Set("Content-Disposition", `attachment; filename="grfgp-`+s.opts.Now().UTC().Format("20060102-150405")+`.db"`)
	if _, err := io.Copy(w, copied); err != nil {
		return err
	}
	return nil
}
