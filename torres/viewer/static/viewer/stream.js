// Server-sent events while the page is visible. A hidden page needs none, and a browser
// opens only six connections to a server for all of its tabs.

// Call the handlers, by the names of events, with the data of each message. `address` is
// a function, because it changes with what has arrived. `refused` is called if the server
// has no such stream. Return a function that ends the stream.
export function listen(address, handlers, refused) {
  let source = null;

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(address());
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
    }
    // After a lost connection the browser tries again by itself.
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      end();
      refused();
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  function change() {
    if (document.hidden) close();
    else open();
  }

  function end() {
    document.removeEventListener("visibilitychange", change);
    close();
  }

  document.addEventListener("visibilitychange", change);
  open();
  return end;
}
