package answer

// refer points to the servers of the delegation n, whose name stands at owner.
// Addresses at or below the cut must fit, others go along while there is room.
func (r *Reply) refer(n *node, owner, hop int) {
	z := r.zone
	cut := &z.cuts[n.aux]
	r.Kind, r.Header.AA = Referral, hop > 0 // also where it does not fit
	at := len(r.Msg)
	count, _, _ := r.putSet(z, z.set(cut.set), z.base(n), owner)
	if count == 0 {
		r.truncate()
		return
	}
	r.Header.Authority = uint16(count)
	glue := z.glue[cut.glue : cut.glue+cut.count]
	for i := range glue {
		g := &glue[i]
		name := at + int(g.pos)
		if name >= maxPointer {
			continue
		}
		count, _, status := r.putSet(z, z.set(g.set), 0, name)
		if status != answered {
			continue
		}
		if count == 0 && g.must {
			r.truncate()
			return
		}
		r.Header.Additional += uint16(count)
	}
}
