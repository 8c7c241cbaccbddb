package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	zoneLabel = "topology.kubernetes.io/zone"
	oldZone   = "failure-domain.beta.kubernetes.io/zone"
	hostname  = "kubernetes.io/hostname"
	drivers   = 2
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	zones = []string{"a", "b", "c"}
)

type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

// maker builds one cluster: a few nodes, almost full, and a pod that wants volumes.
type maker struct {
	*rand.Rand
	items   []any
	nodes   []string
	claims  []string        // Of volumes, by name.
	onePod  map[string]bool // Claims that one pod at a time may use.
	used    map[string]bool // Claims that a bound pod uses.
	devices []string        // ResourceClaims.
	starts  int
}

func randomCluster(seed, index uint64, group bool) *list {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, index)), onePod: map[string]bool{},
		used: map[string]bool{}}
	m.makeNodes()
	m.makeClasses()
	for i := range 4 + m.IntN(5) {
		m.makeClaim(i)
	}
	m.makeFreeVolumes()
	m.makeDevices()
	m.makePods()
	m.used = map[string]bool{}
	if group {
		m.makeGroup()
	} else {
		m.makeAsk(askName)
	}
	return &list{APIVersion: "v1", Kind: "List", Items: m.items}
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m *maker) driver() string { return fmt.Sprintf("d%d.example.com", m.IntN(drivers)) }

func pick[T any](m *maker, from []T) T { return from[m.IntN(len(from))] }

func (m *maker) add(object any) { m.items = append(m.items, object) }

func kind(version, name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: name}
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}
}

func inDefault(name string) metav1.ObjectMeta {
	meta := named(name)
	meta.Namespace = askNamespace
	return meta
}

// ---- Nodes --------------------------------------------------------------------------------------

func (m *maker) makeNodes() {
	zoned := !m.chance(10)
	for i := range 2 + m.IntN(4) {
		name := fmt.Sprintf("n%d", i)
		node := &v1.Node{TypeMeta: kind("v1", "Node"), ObjectMeta: named(name)}
		node.Labels = map[string]string{hostname: name}
		if zoned && !m.chance(8) {
			node.Labels[zoneLabel] = pick(m, zones)
		}
		if m.chance(6) {
			node.Labels[oldZone] = pick(m, zones)
		}
		node.Status.Allocatable = v1.ResourceList{
			v1.ResourceCPU:  *resource.NewQuantity(int64(2+m.IntN(4)), resource.DecimalSI),
			v1.ResourcePods: *resource.NewQuantity(20, resource.DecimalSI)}
		m.nodes = append(m.nodes, name)
		m.add(node)
		if !m.chance(12) {
			m.makeLimits(name)
		}
	}
}

func (m *maker) makeLimits(name string) {
	limits := &storagev1.CSINode{TypeMeta: kind("storage.k8s.io/v1", "CSINode"), ObjectMeta: named(name)}
	for i := range drivers {
		if m.chance(15) {
			continue
		}
		driver := storagev1.CSINodeDriver{Name: fmt.Sprintf("d%d.example.com", i), NodeID: name}
		if !m.chance(15) {
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To(int32(max(0, m.IntN(6)-1)))}
		}
		limits.Spec.Drivers = append(limits.Spec.Drivers, driver)
	}
	m.add(limits)
}

// ---- Volumes and claims -------------------------------------------------------------------------

// Classes: "now" binds at once, "later0" and "later1" wait for a pod, "local" waits and makes none.
func (m *maker) makeClasses() {
	later, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	for i, name := range []string{"now", "later0", "later1", "local"} {
		if m.chance(3) {
			continue
		}
		class := &storagev1.StorageClass{TypeMeta: kind("storage.k8s.io/v1", "StorageClass"),
			ObjectMeta: named(name), Provisioner: m.driver(), VolumeBindingMode: &later}
		switch i {
		case 0:
			class.VolumeBindingMode = &now
		case 3:
			class.Provisioner = "kubernetes.io/no-provisioner"
		default:
			for range m.IntN(3) {
				class.AllowedTopologies = append(class.AllowedTopologies, m.topology())
			}
		}
		m.add(class)
	}
}

func (m *maker) topology() v1.TopologySelectorTerm {
	var term v1.TopologySelectorTerm
	some := func(from []string) []string { return []string{pick(m, from), pick(m, from)}[:1+m.IntN(2)] }
	if m.chance(80) {
		term.MatchLabelExpressions = append(term.MatchLabelExpressions,
			v1.TopologySelectorLabelRequirement{Key: zoneLabel, Values: some(zones)})
	}
	if m.chance(25) {
		term.MatchLabelExpressions = append(term.MatchLabelExpressions,
			v1.TopologySelectorLabelRequirement{Key: hostname, Values: some(m.nodes)})
	}
	return term
}

func (m *maker) claimObject(name, class string) *v1.PersistentVolumeClaim {
	claim := &v1.PersistentVolumeClaim{TypeMeta: kind("v1", "PersistentVolumeClaim"),
		ObjectMeta: inDefault(name)}
	claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	claim.Spec.StorageClassName = &class
	claim.Spec.Resources.Requests = storage(1 + m.IntN(9))
	claim.Status.Phase = v1.ClaimPending
	return claim
}

func storage(gigabytes int) v1.ResourceList {
	return v1.ResourceList{v1.ResourceStorage: *resource.NewQuantity(int64(gigabytes)<<30, resource.BinarySI)}
}

func (m *maker) makeClaim(number int) {
	name := fmt.Sprintf("c%d", number)
	claim := m.claimObject(name, pick(m, []string{"now", "later0", "later1", "", "absent"}))
	if m.chance(25) {
		m.onePod[name] = true
		claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
	}
	switch chance := m.IntN(100); {
	case chance < 70:
		m.bind(claim)
	case chance < 93:
		claim.Spec.StorageClassName = ptr.To(pick(m, []string{"later0", "later1"}))
		if m.chance(20) {
			claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": pick(m, m.nodes)}
		}
	case chance < 95: // Bound soon, but not yet.
		claim.Spec.VolumeName = "v-" + name
	case chance < 97:
		claim.Spec.VolumeName, claim.Status.Phase = "v-gone", v1.ClaimLost
	case chance < 99:
		m.bind(claim)
		claim.DeletionTimestamp = ptr.To(metav1.NewTime(epoch.Add(time.Hour)))
		claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
	}
	m.claims = append(m.claims, name)
	m.add(claim)
}

// bind makes the volume as well, unless that is missing.
func (m *maker) bind(claim *v1.PersistentVolumeClaim) {
	claim.Spec.VolumeName, claim.Status.Phase = "v-"+claim.Name, v1.ClaimBound
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	if m.chance(2) {
		return
	}
	volume := m.volumeObject(claim.Spec.VolumeName)
	volume.Spec.ClaimRef = &v1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	volume.Status.Phase = v1.VolumeBound
	m.add(volume)
}

func (m *maker) volumeObject(name string) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{TypeMeta: kind("v1", "PersistentVolume"), ObjectMeta: named(name)}
	volume.Spec.Capacity = storage(1 + m.IntN(20))
	volume.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	if m.chance(80) {
		handle := name
		if m.chance(10) {
			handle = "shared"
		}
		volume.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: m.driver(), VolumeHandle: handle}
	} else {
		volume.Spec.NFS = &v1.NFSVolumeSource{Server: "nfs.example.com", Path: "/" + name}
	}
	if m.chance(25) {
		volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: m.selector()}
	}
	if m.chance(15) {
		key := zoneLabel
		if m.chance(20) {
			key = oldZone
		}
		volume.Labels = map[string]string{key: pick(m, []string{"a", "b", "a__b", "b__c"})}
	}
	return volume
}

func (m *maker) selector() *v1.NodeSelector {
	selector := &v1.NodeSelector{}
	for range 1 + m.IntN(2) {
		var term v1.NodeSelectorTerm
		for range 1 + m.IntN(2) {
			term.MatchExpressions = append(term.MatchExpressions, m.requirement())
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (m *maker) requirement() v1.NodeSelectorRequirement {
	operator := pick(m, []v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpIn,
		v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists,
		v1.NodeSelectorOpDoesNotExist})
	one := v1.NodeSelectorRequirement{Key: zoneLabel, Operator: operator}
	values := []string{pick(m, zones), pick(m, zones)}
	if m.chance(30) {
		one.Key, values = hostname, []string{pick(m, m.nodes), pick(m, m.nodes)}
	}
	if operator == v1.NodeSelectorOpIn || operator == v1.NodeSelectorOpNotIn {
		one.Values = values
	}
	return one
}

// makeFreeVolumes: not claimed so far. A claim of their class may take one.
func (m *maker) makeFreeVolumes() {
	if !m.chance(20) {
		return
	}
	for i := range 1 + m.IntN(3) {
		volume := m.volumeObject(fmt.Sprintf("free%d", i))
		volume.Spec.StorageClassName = pick(m, []string{"local", "local", "later0"})
		volume.Status.Phase = v1.VolumeAvailable
		m.add(volume)
	}
	m.claims = append(m.claims, "static")
	m.add(m.claimObject("static", "local"))
}
