package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// file is a file of a package. If its name ends in /, it is a folder.
type file struct {
	Name    string
	Data    []byte
	Mode    int64
	OwnerID int
}

func plain(name string, data []byte) file  { return file{Name: name, Data: data, Mode: 0o644} }
func binary(name string, data []byte) file { return file{Name: name, Data: data, Mode: 0o755} }

// tarball returns the files as a tar archive. All files have the time of the commit, so that equal files make equal
// bytes.
func tarball(at time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Mode: f.Mode, Size: int64(len(f.Data)), ModTime: at, Uid: f.OwnerID, Gid: f.OwnerID,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func compressed(data []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	w.Write(data) // a bytes.Buffer never fails
	w.Close()
	return out.Bytes()
}

// folder returns a compressed tar archive of one folder that contains the files.
func folder(at time.Time, name string, files []file) ([]byte, error) {
	in := slices.Clone(files)
	for i := range in {
		in[i].Name = name + "/" + in[i].Name
	}
	data, err := tarball(at, in)
	return compressed(data), err
}

// platforms holds pip's names of the targets. The program has no C and is linked statically, so that it runs with
// both C libraries of Linux. macOS 12 is the oldest macOS for which Go builds.
var platforms = map[string]string{
	"linux/amd64":   "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// metadata is the beginning of the wheel's METADATA.
const metadata = `Metadata-Version: 2.4
Name: krigo
Version: %s
Summary: Gaussian processes that keep their promises: regression with a certificate
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY-NOTICES.txt
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Classifier: Typing :: Typed
Requires-Python: >=3.10
Requires-Dist: numpy>=1.24
Requires-Dist: scikit-learn>=1.6; extra == "sklearn"
Requires-Dist: pandas>=2; extra == "pandas"
Requires-Dist: polars>=1; extra == "polars"
Provides-Extra: sklearn
Provides-Extra: pandas
Provides-Extra: polars
Description-Content-Type: text/markdown

%s`

// wheel returns the wheel, and the wheel's file name. modules are the Python files, and program is the executable.
func wheel(v version, target string, modules []file, program file, legal []file, description string) (name string,
	data []byte, err error) {
	info := "krigo-" + v.Python + ".dist-info/"
	about := "Wheel-Version: 1.0\nGenerator: krigo tools/release\nRoot-Is-Purelib: false\n"
	for platform := range strings.SplitSeq(platforms[target], ".") {
		about += "Tag: py3-none-" + platform + "\n"
	}
	files := append(slices.Clone(modules),
		binary("krigo/bin/"+program.Name, program.Data),
		plain(info+"METADATA", fmt.Appendf(nil, metadata, v.Python, description)),
		plain(info+"WHEEL", []byte(about)),
		plain(info+"entry_points.txt", []byte("[console_scripts]\nkrigo = krigo._program:main\n")))
	for _, f := range legal {
		at := "licenses/"
		if f.Name == sbom {
			at = "sboms/"
		}
		files = append(files, plain(info+at+f.Name, f.Data))
	}
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, plain(info+"RECORD", record.Bytes()))

	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser,
		error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: v.Time, CreatorVersion: 3 << 8,
			ExternalAttrs: uint32(0o100000|f.Mode) << 16}
		entry, err := w.CreateHeader(h)
		if err != nil {
			return "", nil, err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return "", nil, err
		}
	}
	err = w.Close()
	return "krigo-" + v.Python + "-py3-none-" + platforms[target] + ".whl", out.Bytes(), err
}

// rPackage returns R's source package, as R CMD build would make it. sources are the files of the folder r.
func rPackage(v version, sources []file, program file, legal []file) ([]byte, error) {
	var files []file
	for _, f := range sources {
		if f.Name == "DESCRIPTION" {
			f.Data = bytes.Replace(f.Data, []byte("\nVersion: 0.0.0\n"), []byte("\nVersion: "+v.R+"\n"), 1)
			f.Data = append(f.Data, "Packaged: "+v.Time.Format("2006-01-02 15:04:05 UTC")+"; krigo\n"...)
		}
		files = append(files, f)
	}
	at := "inst/bin/" + program.Name
	// without BinaryFiles, R CMD check takes the program for a mistake
	files = append(files, binary(at, program.Data), plain("BinaryFiles", []byte(at+"\n")))
	for _, f := range legal {
		if f.Name != "LICENSE" { // R has the text of this licence itself
			files = append(files, plain("inst/"+f.Name, f.Data))
		}
	}
	return folder(v.Time, "krigo", files)
}

// image returns a container image that holds only the program and its legal texts, and the image's digest. The image
// is a tar archive that Podman, Docker and skopeo load. It has no base image, so that everything in it comes from
// this repository.
func image(v version, processor string, program file, legal []file) (data []byte, digest string, err error) {
	type object = map[string]any
	var blobs []file
	blob := func(kind string, content []byte) object {
		sum := sha256.Sum256(content)
		digest := hex.EncodeToString(sum[:])
		blobs = append(blobs, plain("blobs/sha256/"+digest, content))
		return object{"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(content)}
	}
	text := func(v any) []byte {
		written, err := json.Marshal(v)
		if err != nil {
			panic(err) // v holds texts and numbers only
		}
		return written
	}
	files := []file{binary("krigo", program.Data), {Name: "data/", Mode: 0o755, OwnerID: user},
		{Name: "licenses/", Mode: 0o755}}
	for _, f := range legal {
		files = append(files, plain("licenses/"+f.Name, f.Data))
	}
	unpacked, err := tarball(v.Time, files)
	if err != nil {
		return nil, "", err
	}
	layer := blob("layer.v1.tar+gzip", compressed(unpacked))
	created := v.Time.Format(time.RFC3339)
	config := blob("config.v1+json", text(object{
		"created": created, "os": "linux", "architecture": processor,
		"config": object{
			"User": fmt.Sprintf("%d:%[1]d", user), "Entrypoint": []string{"/krigo"}, "WorkingDir": "/data",
			"Labels": object{"org.opencontainers.image.version": v.Go, "org.opencontainers.image.licenses": "Apache-2.0"},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(unpacked))}},
		"history": []object{{"created": created, "created_by": "krigo tools/release"}},
	}))
	manifest := blob("manifest.v1+json", text(object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
		"layers": []object{layer},
	}))
	digest = manifest["digest"].(string)
	tag := strings.ReplaceAll(v.Go, "+", "-") // a tag can't contain +
	manifest["platform"] = object{"os": "linux", "architecture": processor}
	manifest["annotations"] = object{"org.opencontainers.image.ref.name": tag}
	path := func(blob object) string { return "blobs/" + strings.Replace(blob["digest"].(string), ":", "/", 1) }
	data, err = tarball(v.Time, append(blobs,
		plain("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)),
		plain("index.json", text(object{"schemaVersion": 2, "manifests": []object{manifest}})),
		plain("manifest.json", text([]object{{ // Docker reads this file
			"Config": path(config), "RepoTags": []string{"krigo:" + tag}, "Layers": []string{path(layer)},
		}}))))
	return data, digest, err
}
