package serve

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/watch"
)

// ending is that of the model files of a folder.
const ending = ".krigo"

// served is a model as it was read from its file. Requests that began with it end with it,
// whatever happens to the file.
type served struct {
	*krigo.Model
	name string
	stamp
	queue     *queue
	watch     *watch.Watch // of its outcomes; nil where there is none
	unwatched error        // for this reason
	observers turns        // to hold outcomes against the certificate
}

// stamp tells whether a file changed.
type stamp struct {
	size     int64
	modified time.Time
}

// library holds the models of a path: a model file, or a folder of them.
type library struct {
	path   string
	newer  func(s *served) // completes a model that was read
	models atomic.Pointer[map[string]*served]
	failed map[string]stamp // files that could not be read, not to be tried again as they are
}

// find returns the model of that name; of none, the only one. Otherwise it returns the names.
func (l *library) find(name string) (*served, []string) {
	models := *l.models.Load()
	if name == "" && len(models) == 1 {
		for _, s := range models {
			return s, nil
		}
	}
	if s := models[name]; s != nil {
		return s, nil
	}
	names := slices.AppendSeq([]string{}, maps.Keys(models)) // not nil: a list of none is one
	slices.Sort(names)
	return nil, names
}

// files returns the model files of the path by the models' names.
func (l *library) files() (map[string]string, error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return nil, fmt.Errorf("%s: no model file and no folder of them: %w", l.path, err)
	}
	named := func(path string) string { return strings.TrimSuffix(filepath.Base(path), ending) }
	if !info.IsDir() {
		return map[string]string{named(l.path): l.path}, nil
	}
	entries, err := os.ReadDir(l.path)
	if err != nil {
		return nil, fmt.Errorf("%s: the folder can't be read: %w", l.path, err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ending && !e.IsDir() {
			files[named(e.Name())] = filepath.Join(l.path, e.Name())
		}
	}
	return files, nil
}

// change is what a scan did about one model.
type change struct {
	name, what string // what: loaded, reloaded, removed
	err        error  // why it was left as it was
}

// scan reads files that are new or changed. A file that can't be read leaves its model as
// it is: it may be half copied. A model whose file has gone from the folder goes too.
func (l *library) scan() ([]change, error) {
	files, err := l.files()
	if err != nil {
		return nil, err
	}
	old := map[string]*served{}
	if p := l.models.Load(); p != nil {
		old = *p
	}
	now := map[string]*served{}
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s, err := l.read(name, files[name], old[name])
		if err != nil {
			changes = append(changes, change{name: name, err: err})
		}
		if s != nil {
			now[name] = s
		}
		if s != nil && s != old[name] {
			what := "loaded"
			if old[name] != nil {
				what = "reloaded"
			}
			changes = append(changes, change{name: name, what: what})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if files[name] == "" {
			changes = append(changes, change{name: name, what: "removed"})
		}
	}
	if len(changes) > 0 || l.models.Load() == nil {
		l.models.Store(&now)
	}
	return changes, nil
}

// read returns the model of a file: the old one where the file is the same or can't be read.
func (l *library) read(name, path string, old *served) (*served, error) {
	info, err := os.Stat(path)
	if err != nil {
		return old, err
	}
	at := stamp{info.Size(), info.ModTime()}
	if old != nil && old.stamp == at || l.failed[name] == at {
		return old, nil
	}
	if !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	var m *krigo.Model
	if err == nil {
		m, err = krigo.Load(path)
	}
	if err != nil {
		l.failed[name] = at
		return old, err
	}
	delete(l.failed, name)
	s := &served{Model: m, name: name, stamp: at}
	l.newer(s)
	return s, nil
}
