import { Empty } from './empty.tsx'
import { AnchorLink } from './links.tsx'

export function NotFound() {
  return (
    <Empty title="There is no such page" action={<AnchorLink to="/">Go to the start</AnchorLink>}>
      It may have moved, or what it was about has been deleted.
    </Empty>
  )
}
