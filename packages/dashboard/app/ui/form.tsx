import type { ReactNode } from 'react'

/** A form that the page handles itself. The browser neither checks nor sends it, and does not leave the page. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
