import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from './empty.tsx'

export function Missing() {
  return (
    <Empty
      title="There is no such page"
      action={
        <Anchor component={Link} to="/">
          Go to the start
        </Anchor>
      }
    >
      It may have moved, or what it was about has been deleted.
    </Empty>
  )
}
