package nn

import "utvi/gauss"

// units are the units inside a composite. Their tapes and tiles lie one after the other.
type units[T gauss.Float] []Unit[T]

func (u units[T]) total(f func(u Unit[T]) int) int {
	n := 0
	for _, u := range u {
		n += f(u)
	}
	return n
}

func (u units[T]) TapeWidth() int    { return u.total(Unit[T].TapeWidth) }
func (u units[T]) GradTiles() int    { return u.total(Unit[T].GradTiles) }
func (u units[T]) PrepareTiles() int { return u.total(Unit[T].PrepareTiles) }

// find returns the unit that owns tile, and the tile's number in it.
func (u units[T]) find(tile int, count func(u Unit[T]) int) (unit, local int) {
	for i, u := range u {
		n := count(u)
		if tile < n {
			return i, tile
		}
		tile -= n
	}
	panic("nn: no such tile")
}

// prepare passes a tile to the runner of the unit that owns it.
func (u units[T]) prepare(runners []Runner[T], tile int) {
	i, local := u.find(tile, Unit[T].PrepareTiles)
	runners[i].Prepare(local)
}

// gradient passes a tile to the runner of the unit that owns it, with the unit's part of
// the tapes. It uses and returns room.
func (u units[T]) gradient(runners []Runner[T], tile int, blocks, room []Block[T]) []Block[T] {
	i, local := u.find(tile, Unit[T].GradTiles)
	before, width := u[:i].TapeWidth(), u[i].TapeWidth()
	room = room[:0]
	for _, b := range blocks {
		room = append(room, Block[T]{Rows: b.Rows, Tape: b.Tape[b.Rows*before:][:b.Rows*width]})
	}
	runners[i].Gradient(local, room)
	return room
}
