// Runs before the app's modules and without them. Without a secure context the browser offers no cryptography, and the
// modules may even fail to load.
if (!isSecureContext) {
  const paragraph = (text) => Object.assign(document.createElement('p'), { textContent: text })
  const title = Object.assign(document.createElement('h1'), { textContent: 'This page needs HTTPS' })
  const main = document.createElement('main')
  const port = location.port || '80'
  main.append(
    title,
    paragraph(
      'The dashboard encrypts and decrypts in your browser, and a browser gives that to a page over HTTPS, or on ' +
        `localhost, alone. This one came from ${location.origin}.`,
    ),
    paragraph('If this server has an address that begins with https, open that one.'),
    paragraph(
      'Otherwise the operator of the server puts a proxy in front of it that ends TLS, and sets SKERRY_BASE_URL to its ' +
        'address: docs/operations/reverse-proxy.md.',
    ),
    paragraph(
      `To look at it from here now: ssh -L ${port}:localhost:${port} ${location.hostname}, and then open ` +
        `http://localhost:${port} in this browser.`,
    ),
  )
  document.getElementById('root').replaceChildren(main)
}
