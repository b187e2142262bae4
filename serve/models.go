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

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/watch"
)

// ending is how the names of model files in a folder end.
const ending = ".krigo"

// served is a model as it was read from its file.
// A request that began with a served model ends with the same model, even if the file changes.
type served struct {
	*krigo.Model
	name      string
	file      stamp
	queue     *queue
	watch     *watch.Watch // counts the model's outcomes; may be nil
	unwatched error        // why watch is nil
	observers turns        // for comparing outcomes with the certificate

	// Of a file of several targets, the first target's model has the fields above.
	// others are the other targets' models, and together is the whole file.
	// Both are nil for one target. Of more than two classes, a model that stands for their label
	// has the fields above, and others are all classes' models.
	others   []*served
	together *krigo.Targets
}

// stamp is a file as it was found.
type stamp struct{ fs.FileInfo }

// same says whether a file counts as unchanged. Its time alone doesn't tell:
// a copy may keep the time of its source, and the clock may have been set back.
func (s stamp) same(as stamp) bool {
	return s.FileInfo != nil && os.SameFile(s.FileInfo, as.FileInfo) && s.Size() == as.Size() &&
		s.ModTime().Equal(as.ModTime())
}

// library holds the models of a path, which is a model file or a folder of model files.
type library struct {
	path   string
	newer  func(s *served) // completes a model after it is read
	models atomic.Pointer[map[string]*served]
	// files that couldn't be read, by model; they are tried again only if they change
	failed map[string]stamp
}

// find returns the model with this name, or, if the name is empty, the only model.
// If there is no such model, find returns the names of all models.
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
	// not nil, so that an empty list is [] in JSON
	names := slices.AppendSeq([]string{}, maps.Keys(models))
	slices.Sort(names)
	return nil, names
}

// files returns the paths of all model files, by the names of the models.
func (l *library) files() (map[string]string, error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return nil, fmt.Errorf("%s: neither a model file nor a folder: %w", l.path, err)
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

// change says what a scan did with one model.
type change struct {
	name, what string // what: loaded, reloaded, removed
	err        error  // why the model couldn't be read, and was left as it was
}

// scan reads files that are new or changed. If a file can't be read, for example because it is half
// copied, the model stays as it is. If a file was removed from the folder, its model is removed
// too.
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
			changes = append(changes, change{name: name,
				what: spelling.Either(old[name] != nil, "reloaded", "loaded")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if files[name] == "" {
			changes = append(changes, change{name: name, what: "removed"})
		}
	}
	// The map is replaced and never changed, because requests under way read the old one.
	if len(changes) > 0 || l.models.Load() == nil {
		l.models.Store(&now)
	}
	return changes, nil
}

// complete gives s what it needs besides of a file of several models.
func (l *library) complete(s *served, all *krigo.Targets) {
	first := 1
	if label, err := all.Label(); err == nil {
		s.Model = label
		first = 0
	}
	s.together = all
	for i := range all.Models[first:] {
		other := &served{Model: all.Model(first + i), name: s.name, together: all}
		l.newer(other)
		s.others = append(s.others, other)
	}
}

// read returns the model of a file. It returns old if the file hasn't changed or can't be read.
func (l *library) read(name, path string, old *served) (*served, error) {
	info, err := os.Stat(path)
	if err != nil {
		return old, err
	}
	at := stamp{info}
	// A file that failed isn't read again until it changes.
	if (old != nil && old.file.same(at)) || l.failed[name].same(at) {
		return old, nil
	}
	if !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	var all *krigo.Targets
	if err == nil {
		all, err = krigo.LoadTargets(path)
	}
	if err != nil {
		l.failed[name] = at
		return old, err
	}
	delete(l.failed, name)
	s := &served{Model: all.Model(0), name: name, file: at}
	if len(all.Models) > 1 {
		l.complete(s, all)
	}
	l.newer(s)
	return s, nil
}
