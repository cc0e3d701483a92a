import { Empty } from './empty.tsx'
import { AnchorLink } from './links.tsx'

export function NotFound() {
  return (
    <Empty title="There is no such page" action={<AnchorLink to="/">Go to the start</AnchorLink>}>
      The address may be wrong, or somebody deleted what the page showed.
    </Empty>
  )
}
